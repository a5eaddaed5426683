/** The replicas whose schema a migration would change. */
import { programLevel } from '@q/schema'
import { testDatabase, type TestDatabaseOptions } from '@q/testing'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, migrateDatabase, migrationPlan } from '@q/store'
import { introduction } from './replica-registration.ts'
import { registeredByPrevious } from './previous-release.ts'

async function database(options?: TestDatabaseOptions) {
  const { url, drop } = await testDatabase(options)
  const { db, close } = connect(url, { purpose: 'control' })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  return { url, db }
}

test('live replicas that do not know the newest migration are older; stopped and stale ones are not listed', async () => {
  const { url, db } = await database()
  const store = createStore(db)
  for (const id of ['current', 'silent', 'below', 'stopped', 'stale']) await store.registerReplica(introduction(id, id))
  const level = (id: string, value: number | null) =>
    db.updateTable('q.replica').set({ level: value }).where('id', '=', id).execute()
  await level('silent', null)
  for (const id of ['below', 'stopped', 'stale']) await level(id, (await programLevel()) - 1)
  await store.retireReplica('stopped')
  await db
    .updateTable('q.replica_heartbeat')
    .set({ last_heartbeat: new Date(0) })
    .where('replica_id', '=', 'stale')
    .execute()
  expect(await migrationPlan(url)).toEqual({
    pending: [],
    newer: [],
    olderReplicas: [
      { id: 'below', name: 'below', hostname: 'host', version: '0', level: (await programLevel()) - 1 },
      { id: 'silent', name: 'silent', hostname: 'host', version: '0', level: null },
    ],
  })
})

test('before replicas reported their level every living one is older', async () => {
  const { url, db } = await database({ upTo: '0007-enqueue-function' })
  await registeredByPrevious(db, 'old')
  expect((await migrationPlan(url)).olderReplicas).toMatchObject([{ id: 'old', level: null }])
  await migrateDatabase(url)
  expect((await migrationPlan(url)).olderReplicas).toMatchObject([{ id: 'old', level: null }])
})

test('a migration that declares a running release too old orders its replicas to drain: they cannot notice it themselves', async () => {
  const { url, db } = await database({ upTo: '0007-enqueue-function' })
  for (const id of ['old', 'left']) await registeredByPrevious(db, id)
  await createStore(db).retireReplica('left')
  await migrateDatabase(url)
  const rows = await db.selectFrom('q.replica').select(['id', 'draining_by']).orderBy('id').execute()
  expect(rows).toEqual([
    { id: 'left', draining_by: null },
    { id: 'old', draining_by: 'a migration' },
  ])
})
