import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore, type ConnectionOptions } from '@q/store'
import { testDatabase } from '@q/testing'
import { untilNobodyWaits } from './blocked-sessions.ts'
import { greetingProxy } from './greeting-proxy.ts'

async function connection(options: { statementMsMax?: number } = {}) {
  const database = await testDatabase()
  const made = connect(database.url, { purpose: 'control', ...options })
  onTestFinished(async () => {
    await made.close()
    await database.drop()
  })
  return made.db
}

const pid = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`

test('a connection on which a statement took too long is not used again', async () => {
  const db = await connection({ statementMsMax: 300 })
  const before = (await pid.execute(db)).rows[0]!.pid
  await expect(sql`SELECT pg_sleep(20)`.execute(db)).rejects.toThrow('timeout')
  expect((await pid.execute(db)).rows[0]!.pid).not.toBe(before)
})

test('an abandoned statement does not keep waiting at the server, however long its lock is held', async () => {
  const database = await testDatabase()
  const [user, replica] = [
    connect(database.url, { purpose: 'pool' }),
    connect(database.url, { purpose: 'pool', quiet: true, statementMsMax: 1_000 }),
  ]
  onTestFinished(async () => {
    await Promise.all([user.close(), replica.close()])
    await database.drop()
  })
  // By default a server does not look whether its client is still there.
  await sql`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET client_connection_check_interval = 0', current_database()); END $$`.execute(
    user.db,
  )
  await user.db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(1)`.execute(trx)
    await expect(sql`SELECT pg_advisory_lock(1)`.execute(replica.db)).rejects.toThrow('timeout')
    await untilNobodyWaits(user.db)
  })
})

test('a connection that the server ends in the middle of a statement fails only that statement', async () => {
  const db = await connection()
  await expect(sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow('terminat')
  expect((await pid.execute(db)).rows).toHaveLength(1)
})

test('a statement that fails leaves its connection in use', async () => {
  const db = await connection()
  const before = (await pid.execute(db)).rows[0]!.pid
  await expect(sql`SELECT 1/0`.execute(db)).rejects.toThrow('division by zero')
  expect((await pid.execute(db)).rows[0]!.pid).toBe(before)
})

/** Two of them on one database, and one that alters it. */
async function connections(options: Omit<ConnectionOptions, 'purpose'>) {
  const database = await testDatabase()
  const [own, other] = [
    connect(database.url, { purpose: 'pool', quiet: true, ...options }),
    connect(database.url, { purpose: 'pool' }),
  ]
  onTestFinished(async () => {
    await Promise.all([own.close(), other.close()])
    await database.drop()
  })
  const alter = (setting: string) => sql.raw(`ALTER DATABASE "${database.name}" SET ${setting}`).execute(other.db)
  return { own: own.db, other: other.db, alter }
}

test('a process that was stopped or cut off in the middle of a transaction keeps its locks for a bounded time', async () => {
  const { own, other } = await connections({ statementMsMax: 300 })
  const [locked, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stopped = own.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(1)`.execute(trx)
    locked.resolve()
    await others.promise
    await pid.execute(trx)
  })
  await locked.promise
  await sql`SELECT pg_advisory_lock(1)`.execute(other).finally(others.resolve)
  await expect(stopped).rejects.toThrow(/not queryable|terminat/)
  expect((await pid.execute(own)).rows).toHaveLength(1)
})

test('a connection to a read-only server is not used again: the next one may reach the primary', async () => {
  const { own, alter } = await connections({})
  await alter('default_transaction_read_only = on')
  const write = sql`INSERT INTO q.duty (name, holder, until) VALUES ('d', 'me', clock_timestamp())`
  await expect(write.execute(own)).rejects.toMatchObject({ code: '25006' })
  await alter('default_transaction_read_only = off')
  await write.execute(own)
})

test('transactions of a replica are READ COMMITTED, whatever the default of the database', async () => {
  const { own, other, alter } = await connections({})
  await alter("default_transaction_isolation = 'serializable'")
  const duties = sql`SELECT name FROM q.duty`
  await own.transaction().execute(async (trx) => {
    expect((await duties.execute(trx)).rows).toEqual([])
    await sql`INSERT INTO q.duty (name, holder, until) VALUES ('d', 'me', clock_timestamp())`.execute(other)
    expect((await duties.execute(trx)).rows).toEqual([{ name: 'd' }])
  })
})

test('a timestamp is parsed correctly for every DateStyle of the database', async () => {
  const { own, alter } = await connections({})
  await alter("datestyle = 'German'")
  const { rows } = await sql<{ at: Date }>`SELECT '2026-11-17 12:00:00Z'::timestamptz AS at`.execute(own)
  expect(rows[0]!.at).toEqual(new Date('2026-11-17T12:00:00Z'))
})

test.each(['control', 'exchange', 'pool'] as const)(
  'statements of a replica on its connection %s have a time limit and no JIT compilation',
  async (purpose) => {
    const database = await testDatabase()
    const made = connect(database.url, { purpose, quiet: true })
    onTestFinished(async () => {
      await made.close()
      await database.drop()
    })
    await sql.raw(`ALTER DATABASE "${database.name}" SET jit = on`).execute(made.db)
    const fresh = connect(database.url, { purpose, quiet: true })
    onTestFinished(() => fresh.close())
    expect((await sql`SHOW jit`.execute(fresh.db)).rows).toEqual([{ jit: 'off' }])
  },
)

const limits = sql<{ statement: string; lock: string; idle: string }>`SELECT
  current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
  current_setting('idle_in_transaction_session_timeout') AS idle`
const ended = { statement: '10s', lock: '8s', idle: '11s' }

test('the server limits every statement of a producer or command, and ends it before the program stops waiting', async () => {
  const { own } = await connections({ quiet: false, statementMsMax: 10_000 })
  expect((await limits.execute(own)).rows).toEqual([ended])
})

test('behind a pooler each transaction is limited, and no setting stays in a session that the pooler lends to others', async () => {
  const database = await testDatabase()
  const proxy = await greetingProxy(database.url)
  const own = connect(proxy, { purpose: 'pool', connectionsMax: 1, statementMsMax: 10_000 })
  onTestFinished(async () => {
    await own.close()
    await database.drop()
  })
  expect((await limits.execute(own.db)).rows).toEqual([ended])
  const duty = { name: 'd', holder: 'me', until: new Date() }
  await own.db.insertInto('q.duty').values(duty).execute()
  await own.db.transaction().execute(async (trx) => {
    expect((await limits.execute(trx)).rows).toEqual([ended])
    const { numUpdatedRows } = await trx.updateTable('q.duty').set({ holder: 'you' }).executeTakeFirstOrThrow()
    expect(numUpdatedRows).toBe(1n)
  })
  await expect(sql`SELECT 1 / 0`.execute(own.db)).rejects.toMatchObject({ code: '22012' })
  // A statement that holds its own session past the limits shows the settings of the session itself.
  const between = sql`COMMIT; SELECT set_config('q.seen', current_setting('statement_timeout'), false); BEGIN`
  await between.execute(own.db)
  const { rows } = await sql`SELECT current_setting('q.seen') AS statement`.execute(own.db)
  expect(rows).toEqual([{ statement: '0' }])
  expect(await own.db.selectFrom('q.duty').select(['name', 'holder']).execute()).toEqual([{ name: 'd', holder: 'you' }])
})

test('behind a pooler a transaction whose limits the server refuses ends, so that no later caller gets it', async () => {
  const database = await testDatabase()
  // Accepted by BEGIN, and refused by the limits after it.
  const refused = { purpose: 'pool', connectionsMax: 1, statementMsMax: -1 } as const
  const [own, other] = [connect(await greetingProxy(database.url), refused), connect(database.url, { purpose: 'pool' })]
  onTestFinished(async () => {
    await Promise.all([own.close(), other.close()])
    await database.drop()
  })
  const inTransaction = () => own.db.transaction().execute((trx) => pid.execute(trx))
  for (const call of [() => pid.execute(own.db), inTransaction, () => pid.execute(own.db), inTransaction]) {
    await expect(call()).rejects.toMatchObject({ code: '22023' })
  }
  const open = sql`SELECT state FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
  expect((await open.execute(other.db)).rows).toEqual([])
})

test.each([
  ['a session of its own', (url: string) => url, [{ name: 'q.enqueue-one' }]],
  ['a pooler', greetingProxy, []],
] as const)('with %s a producer keeps the statement that enqueues, or sends it as text', async (_, urlOf, kept) => {
  const database = await testDatabase()
  const own = connect(await urlOf(database.url), { purpose: 'pool', connectionsMax: 1 })
  onTestFinished(async () => {
    await own.close()
    await database.drop()
  })
  const store = createStore(own.db)
  const lane = await store.internLane({ queue: 'default', task: 'hello' })
  for (let call = 0; call < 2; call++) await store.enqueueTaskRuns([{ task: 'hello', lane, payload: {} }])
  const names = await sql`SELECT name FROM pg_prepared_statements WHERE name <> ''`.execute(own.db)
  expect(names.rows).toEqual(kept)
})

test.each([
  ['a session of its own', (url: string) => url],
  ['a pooler', greetingProxy],
] as const)('with %s the database refuses every write of a page, and limits its reads', async (_, urlOf) => {
  const database = await testDatabase()
  const page = connect(await urlOf(database.url), { purpose: 'page' })
  onTestFinished(async () => {
    await page.close()
    await database.drop()
  })
  expect((await limits.execute(page.db)).rows).toEqual([{ statement: '3s', lock: '500ms', idle: '4s' }])
  const write = page.db.deleteFrom('q.duty').execute()
  await expect(write).rejects.toMatchObject({ code: '25006' })
  const inTransaction = page.db.transaction().execute((trx) => trx.deleteFrom('q.duty').execute())
  await expect(inTransaction).rejects.toMatchObject({ code: '25006' })
})
