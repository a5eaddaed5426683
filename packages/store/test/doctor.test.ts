import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { migratedObjects, schemaObjects } from '@q/schema/objects'
import { connect, createStore, trySession } from '@q/store'
import { testDatabase } from '@q/testing'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool', connectionsMax: 2 })
const { db } = connection
const store = createStore(db)

beforeAll(() => sql`ANALYZE q.task_run`.execute(db))
afterAll(async () => {
  await connection.close()
  await database.drop()
})

test('a database that was migrated has every object that this release ships, and no other', async () => {
  expect(await schemaObjects(db)).toEqual(migratedObjects)
  expect(await store.inspectSchema()).toEqual([])
})

test('a missing index, a disabled trigger and a dropped constraint are drift, each with the statement that restores it', async () => {
  const own = await testDatabase()
  const other = connect(own.url, { purpose: 'pool', connectionsMax: 1 })
  onTestFinished(async () => {
    await other.close()
    await own.drop()
  })
  const index = migratedObjects.find(({ kind, name }) => kind === 'index' && name.startsWith('task_run.'))!
  // The triggers that write reports are enabled while a destination asks for them.
  const trigger = migratedObjects.find(({ kind, name }) => kind === 'trigger' && /^task_run\.(?!report_)/.test(name))!
  const check = migratedObjects.find(({ kind, name }) => kind === 'constraint' && name.includes('health_check'))!
  const last = (name: string) => sql.ref(name.split('.')[1] ?? '')
  await sql`DROP INDEX q.${last(index.name)}`.execute(other.db)
  await sql`ALTER TABLE q.task_run DISABLE TRIGGER ${last(trigger.name)}`.execute(other.db)
  await sql`ALTER TABLE q.replica_heartbeat DROP CONSTRAINT ${last(check.name)}`.execute(other.db)
  await sql`CREATE INDEX mine ON q.task_run (created_at)`.execute(other.db)
  const drift = await createStore(other.db).inspectSchema()
  expect(drift).toEqual([
    { difference: 'missing', kind: 'constraint', name: check.name, fix: expect.stringContaining('ADD CONSTRAINT') },
    { difference: 'missing', kind: 'index', name: index.name, fix: `${index.definition};` },
    { difference: 'changed', kind: 'trigger', name: trigger.name, fix: expect.stringContaining('DROP TRIGGER') },
    { difference: 'extra', kind: 'index', name: 'task_run.mine', fix: undefined },
  ])
  for (const { fix } of drift) if (fix !== undefined) await sql.raw(fix).execute(other.db)
  await sql`DROP INDEX q.mine`.execute(other.db)
  expect(await createStore(other.db).inspectSchema()).toEqual([])
})

test('the session that holds the oldest snapshot is named with its pid', async () => {
  const holder = connect(database.url, { purpose: 'pool', connectionsMax: 1 })
  onTestFinished(() => holder.close())
  await holder.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx)
      const holders = await store.inspectSnapshots()
      expect(holders).toContainEqual(
        expect.objectContaining({ kind: 'session', pid: rows[0]?.pid, name: 'q pool', state: 'idle in transaction' }),
      )
    })
})

test('an index that cannot be used is named', async () => {
  expect((await store.inspectTables()).flatMap(({ invalidIndexes }) => invalidIndexes)).toEqual([])
  const mark = (valid: boolean) =>
    sql`UPDATE pg_index SET indisvalid = ${valid} WHERE indexrelid = 'q.replica_pkey'::regclass`.execute(db)
  await mark(false)
  expect(await store.inspectTables()).toContainEqual(
    expect.objectContaining({ table: 'replica', invalidIndexes: ['replica_pkey'] }),
  )
  await mark(true)
})

test('the server report has its version, its connections and the settings that q depends on', async () => {
  const server = await store.inspectServer()
  expect(server.versionNumber).toBeGreaterThanOrEqual(150_000)
  expect(server.connections.used).toBeGreaterThan(0)
  expect(server.connections.max).toBeGreaterThan(server.connections.used)
  expect(server).toMatchObject({
    isStandby: false,
    database: database.name,
    settings: { autovacuum: expect.any(String) },
  })
})

test('a test heartbeat is read back and leaves nothing', async () => {
  expect(await store.tryHeartbeat('doctor-1')).toMatchObject({ wasRead: true })
  const { rows } = await sql`SELECT FROM q.replica_heartbeat`.execute(db)
  expect(rows).toEqual([])
})

test('a direct session keeps its lock and receives its own NOTIFY', async () => {
  expect(await trySession(database.url)).toEqual({ lasts: true, lockSeen: true, notified: true })
})

test('a duty whose holder is not alive is named until its lease ends', async () => {
  await store.takeDuty({ name: 'presence', holder: 'dead', forMs: 60_000 })
  expect(await store.dutiesOfDead()).toEqual([{ duty: 'presence', holder: 'dead', endsInMs: expect.any(Number) }])
  await store.releaseDuty({ name: 'presence', holder: 'dead' })
  expect(await store.dutiesOfDead()).toEqual([])
})

test('the owner of the schema may do everything', async () => {
  expect(await store.inspectRights()).toMatchObject({ mayUse: true, unreadable: [], unwritable: [] })
})

test('an empty database has no inconsistent workflow', async () => {
  expect(await store.workflowFaults()).toEqual([])
})
