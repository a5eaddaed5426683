/** A pool, a client or a connection of the caller's own: used, never closed. */
import { Kysely, PostgresDialect, CamelCasePlugin } from 'kysely'
import { Client, Pool, types } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { queue, task } from '@q/client'
import { fixture, ownPool } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { url, connection, settle, sessions, runs, store } = await fixture()
const pool = ownPool(url, 2)
interface Account {
  readonly account: string
}
const accountOf = ({ account }: Account) => account
const keyed = {
  transfer: task({ concurrency: { key: '/account' } }, accountOf),
  only: task({ unique: '/account' }, accountOf),
  daily: task({ unique: { key: '/account', for: '1d' } }, accountOf),
  calm: task({ throttle: { key: '/account', for: '1d' } }, accountOf),
  last: task({ debounce: { key: '/account', for: '1d' } }, accountOf),
}
const done = { status: 'SUCCEEDED', result: '"done"' } as const
afterAll(() => pool.end())

async function client(): Promise<Client> {
  const own = new Client({ connectionString: url })
  await own.connect()
  onTestFinished(() => own.end())
  return own
}

test('with a pool, a separate session listens for results, and the pool stays open', async () => {
  const q = queue<typeof tasks>(pool)
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result({ timeout: '100s' })
  await settle(done)
  expect(await result).toBe('done')
  expect(await sessions('q listen')).toBe(1)
  await q.close()
  expect((await pool.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  expect(pool.totalCount - pool.idleCount).toBe(0)
})

test('a pool of one connection is enough', async () => {
  const small = ownPool(url, 1)
  const q = queue<typeof tasks>(small)
  const handles = await Promise.all(Array.from({ length: 20 }, () => q.enqueue('hello', { name: 'x' })))
  const results = handles.map((run) => run.result({ timeout: '100s' }))
  await settle(done, 20)
  expect(new Set(await Promise.all(results))).toEqual(new Set(['done']))
  await q.close()
  await small.end()
})

test('a connection of the pool that breaks does not end this process, and the next one is used', async () => {
  const own = ownPool(url, 1)
  const q = queue<typeof tasks>(own)
  await q.enqueue('hello', { name: 'x' })
  const [{ pid }] = (await own.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }]
  const gone = new Promise((resolve) => own.once('remove', resolve))
  await pool.query('SELECT pg_terminate_backend($1)', [pid])
  await gone
  expect((await q.enqueue('hello', { name: 'x' })).duplicate).toBe(false)
  await q.close()
  await own.end()
})

test.each(['repeatable read', 'serializable'])(
  'enqueues with one key return one run, although transactions of the pool are %s by default',
  async (isolation) => {
    const own = new Pool({
      connectionString: url,
      max: 8,
      options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
    })
    const q = queue(own, { tasks: keyed })
    for (const name of ['only', 'daily', 'calm', 'last'] as const) {
      const enqueued = await Promise.all(Array.from({ length: 8 }, () => q.enqueue(name, { account: isolation })))
      expect(new Set(enqueued.map(({ id }) => id)).size).toBe(1)
    }
    await q.close()
    expect((await own.query('SHOW transaction_isolation')).rows).toEqual([{ transaction_isolation: isolation }])
    await own.end()
  },
)

test('with a client, waits poll and open no session', async () => {
  const own = await client()
  const q = queue<typeof tasks>(own)
  const before = await sessions('q listen')
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result({ timeout: '100s' })
  await settle(done)
  expect(await result).toBe('done')
  expect(await sessions('q listen')).toBe(before)
  await q.close()
  expect((await own.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a run that is enqueued on a client in a transaction is part of it', async () => {
  const own = await client()
  const q = queue<typeof tasks>(own)
  const before = await runs()
  await own.query('BEGIN')
  await q.enqueueMany([
    ['hello', { name: 'a' }],
    ['once', { key: 'kept' }],
  ])
  await q.enqueueMany([['once', { key: 'kept' }]])
  expect(await runs()).toBe(before)
  await own.query('ROLLBACK')
  expect(await runs()).toBe(before)
  await q.enqueueMany([
    ['hello', { name: 'a' }],
    ['once', { key: 'kept' }],
  ])
  expect(await runs()).toBe(before + 2)
  expect(own.getTransactionStatus()).toBe('I')
  await q.close()
})

test('a keyed run that is enqueued on a client in a transaction takes no slot of its key before the commit', async () => {
  const own = await client()
  const [within, outside] = [queue(own, { tasks: keyed }), queue(url, { tasks: keyed })]
  await outside.cancel(await outside.enqueue('transfer', { account: 'a' }))
  await own.query('BEGIN')
  await within.enqueue('transfer', { account: 'a' })
  const second = await outside.enqueue('transfer', { account: 'a' })
  expect(await outside.get(second)).toMatchObject({ status: 'AVAILABLE' })
  await own.query('COMMIT')
  await within.close()
  await outside.close()
})

test('a call on a client in a transaction leaves the settings of the transaction as they were', async () => {
  const own = await client()
  const q = queue(own, { tasks: keyed })
  await own.query('BEGIN')
  await own.query("SET LOCAL lock_timeout = '7s'")
  await q.cancel(await q.enqueue('transfer', { account: 'b' }))
  await q.enqueueMany([['transfer', { account: 'b' }]])
  expect((await own.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '7s' }])
  await own.query('ROLLBACK')
  await q.cancel(await q.enqueue('transfer', { account: 'b' }))
  expect((await own.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }])
  await q.close()
})

test('a lane that a rollback removed is created again, so that replicas find its runs', async () => {
  const own = await client()
  const q = queue(own)
  await own.query('BEGIN')
  await q.enqueue('undone', {})
  await own.query('ROLLBACK')
  const { id } = await q.enqueue('undone', {})
  const claimed = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['undone'], queues: [], limit: 2 })
  expect(claimed).toMatchObject([{ runId: id }])
  await q.close()
})

test('a client that does not show whether it is in a transaction is rejected', () => {
  const old = { query: () => Promise.reject(new Error('never sent')) }
  expect(() => queue(old)).toThrow(expect.objectContaining({ code: 'CLIENT_UNSUPPORTED' }))
})

test('a connection of the store is used and left open', async () => {
  const q = queue<typeof tasks>(connection)
  const run = await q.enqueue('hello', { name: 'x' })
  await q.close()
  expect(await store.getTaskRuns([run.id])).toMatchObject([{ status: 'AVAILABLE' }])
})

test('ids are strings even if the program parses bigint as number', async () => {
  const own = new Pool({ connectionString: url, types: { getTypeParser: () => Number } }).on('error', () => {})
  const q = queue<typeof tasks>(own)
  const { id } = await q.enqueue('hello', { name: 'x' })
  expect(id).toBeTypeOf('string')
  expect(types.builtins.INT8).toBe(20)
  expect(await q.get(id)).toMatchObject({ id, status: 'AVAILABLE' })
  await q.close()
  await own.end()
})

test('in a Kysely transaction with plugins, a run exists after the commit, and a rollback removes it', async () => {
  const db = new Kysely<{ invoice: { id: number } }>({
    dialect: new PostgresDialect({ pool: ownPool(url, 1) }),
    plugins: [new CamelCasePlugin()],
  })
  const q = queue<typeof tasks>(url)
  await q.enqueue('hello', { name: 'x' })
  const before = await runs()
  const undone = db.transaction().execute(async (tx) => {
    await q.enqueue('hello', { name: 'x' }, { tx })
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await runs()).toBe(before)
  const run = await db.transaction().execute(async (tx) => {
    const inside = await q.enqueue('once', { key: 'in tx' }, { tx })
    expect(await runs()).toBe(before)
    return inside
  })
  expect(await run.status()).toMatchObject({ status: 'AVAILABLE' })
  await q.close()
  await db.destroy()
})

test('transactions that hold every client of the pool can still enqueue, even a new task', async () => {
  const own = ownPool(url, 2)
  const q = queue(own)
  const out = [await own.connect(), await own.connect()]
  for (const tx of out) await tx.query('BEGIN')
  const enqueued = await Promise.all(out.map((tx, at) => q.enqueue(`never-seen-${at}`, {}, { tx })))
  for (const tx of out) await tx.query('COMMIT')
  for (const tx of out) tx.release()
  expect(await Promise.all(enqueued.map((run) => run.status()))).toMatchObject([
    { task: 'never-seen-0', status: 'PENDING' },
    { task: 'never-seen-1', status: 'PENDING' },
  ])
  await q.close()
  await own.end()
})

test('in a transaction on a pg client, a run exists after the commit; outside of one, tx is rejected', async () => {
  const own = await pool.connect()
  const q = queue<typeof tasks>(pool)
  const before = await runs()
  await own.query('BEGIN')
  const [run] = await q.enqueueMany([['hello', { name: 'x' }]], { tx: own })
  expect(await runs()).toBe(before)
  await own.query('COMMIT')
  expect(await q.get(run)).toMatchObject({ status: 'AVAILABLE' })
  await expect(q.enqueue('hello', { name: 'x' }, { tx: own })).rejects.toMatchObject({ code: 'NOT_IN_TRANSACTION' })
  own.release()
  await q.close()
})
