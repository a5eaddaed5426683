/** Which replicas a migration would change the schema under. */
import { programLevel } from '@q/schema'
import { testDatabase } from '@q/testing'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, migrateDatabase, migrationPlan } from '@q/store'
import { introduction } from './introduction.ts'
import { registeredByPrevious } from './previous-release.ts'

test('living replicas that do not know the newest migration are older; stopped and stale ones are not listed', async () => {
  await using database = await testDatabase()
  const { db, close } = connect(database.url, { purpose: 'control' })
  onTestFinished(close)
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
  expect(await migrationPlan(database.url)).toEqual({
    pending: [],
    olderReplicas: [
      { id: 'below', name: 'below', hostname: 'host', version: '0', level: (await programLevel()) - 1 },
      { id: 'silent', name: 'silent', hostname: 'host', version: '0', level: null },
    ],
  })
})

test('before replicas reported their level every living one is older', async () => {
  await using database = await testDatabase({ upTo: '0007-enqueue-function' })
  const { db, close } = connect(database.url, { purpose: 'control' })
  onTestFinished(close)
  await registeredByPrevious(db, 'old')
  expect((await migrationPlan(database.url)).olderReplicas).toMatchObject([{ id: 'old', level: null }])
  await migrateDatabase(database.url)
  expect((await migrationPlan(database.url)).olderReplicas).toMatchObject([{ id: 'old', level: null }])
})
