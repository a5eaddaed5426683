/** Guarantees in users' own transactions, for each library. Real libraries, on a real database. */
import { Client, type Notification } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { queue, type TransactionHandle } from '@q/client'
import { connect, createStore, enqueueTaskRuns, type NewRun } from '@q/store'
import { testDatabase } from '@q/testing'
import { storeIn } from '../../src/transaction.ts'
import type * as tasks from '../tasks.ts'
import { libraries } from './libraries.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const { db } = connection
const store = createStore(db)
const q = queue<typeof tasks>(database.url)
const listener = new Client({ connectionString: database.url })
await listener.connect()
await listener.query('LISTEN q_ready; LISTEN q_gated; CREATE TABLE public.orders (item text)')
await store.publishTasks('r', [
  { name: 'hello', queue: 'greetings', options: { unique: { key: '/name', forMs: null } }, payloadSchema: null },
  { name: 'charge', queue: 'money', options: { concurrency: { key: '/account', limit: 1 } }, payloadSchema: null },
])
await db.insertInto('q.idle').values({ replica_id: 'idle-replica' }).execute()

const received: string[] = []
let onMark = () => {}
listener.on('notification', ({ channel, payload = '' }: Notification) => {
  if (payload === 'mark') onMark()
  else received.push(`${channel} ${payload}`)
})

/** All that was notified until now: notifications come in the order of the commits. */
async function heardSoFar(): Promise<string[]> {
  const mark = Promise.withResolvers<void>()
  onMark = mark.resolve
  await store.wakeQueue('mark')
  await mark.promise
  return received.splice(0)
}

async function orders(): Promise<string[]> {
  return (await listener.query<{ item: string }>('SELECT item FROM orders')).rows.map(({ item }) => item)
}

const opened = Object.entries(libraries).map(([name, open]) => ({ name, library: open(database.url) }))
afterAll(async () => {
  await Promise.all(opened.map(({ library }) => library.close()))
  await listener.end()
  await q.close()
  await connection.close()
  await database.drop()
})

describe.each(opened)('in a transaction of $name', ({ name, library }) => {
  test('a commit makes the run and the user’s own row visible together, and wakes an idle replica', async () => {
    const item = `tea by ${name}`
    const run = await library.inTransaction(async (tx, say) => {
      await say(`INSERT INTO orders VALUES ('${item}')`)
      const enqueued = await q.enqueue('hello', { name: item }, { tx })
      expect(enqueued.id).toMatch(/^\d+$/)
      expect(await q.get(enqueued.id)).toBeUndefined()
      expect(await heardSoFar()).toEqual([])
      return enqueued
    })
    expect(await heardSoFar()).toEqual(['q_ready greetings'])
    expect(await orders()).toContain(item)
    expect(await q.get(run.id)).toMatchObject({ status: 'AVAILABLE', task: 'hello' })
  })

  test('a rollback removes the run and wakes no replica', async () => {
    const item = `milk by ${name}`
    const failing = library.inTransaction(async (tx, say) => {
      await say(`INSERT INTO orders VALUES ('${item}')`)
      await q.enqueue('hello', { name: item }, { tx })
      throw new Error('the user changed their mind')
    })
    await expect(failing).rejects.toThrow('the user changed their mind')
    expect(await orders()).not.toContain(item)
    expect(await db.selectFrom('q.task_run').select('id').where('unique_key', '=', item).execute()).toEqual([])
    expect(await heardSoFar()).toEqual([])
  })

  test('an enqueue with a taken unique key returns the run that has it', async () => {
    const item = `sugar by ${name}`
    const before = await q.enqueue('hello', { name: item })
    const ids = await library.inTransaction(async (tx) => [
      (await q.enqueue('hello', { name: item }, { tx })).id,
      (await q.enqueue('hello', { name: `${item} too` }, { tx })).id,
      (await q.enqueue('hello', { name: `${item} too` }, { tx })).id,
    ])
    expect(ids).toEqual([before.id, ids[1], ids[1]])
    expect(ids[1]).not.toBe(before.id)
    await heardSoFar()
  })

  test('a batch is enqueued in order, with periods, keys, delays and unusual text', async () => {
    const lane = await store.internLane({ queue: 'default', task: 'batch' })
    const run = { task: 'batch', lane }
    const strange = `"}{\\',?$1:1 ü 𐀀 ${name}`
    const batch = Array.from({ length: 40 }, (_, number): NewRun => ({
      ...run,
      payload: { number, strange },
      ...(number % 2 === 0 && { uniqueKey: `${strange} ${number % 20}`, uniqueForMs: 60_000 }),
      ...(number % 5 === 0 && { delayMs: 60_000 }),
    }))
    const answers = await library.inTransaction((tx) => enqueueTaskRuns(storeIn(tx), batch))
    expect(answers.filter(({ duplicate }) => duplicate)).toHaveLength(10)
    const rows = await db.selectFrom('q.task_run').select(['id', 'status', 'payload']).execute()
    const byId = new Map(rows.map((row) => [row.id, row]))
    const first = (number: number) => (number % 2 === 0 ? number % 20 : number)
    expect(answers.map(({ id, status }) => ({ status, payload: byId.get(id)?.payload }))).toEqual(
      answers.map(({ id }, number) => ({ status: byId.get(id)?.status, payload: { number: first(number), strange } })),
    )
    expect(await library.inTransaction((tx) => enqueueTaskRuns(storeIn(tx), batch.slice(0, 1)))).toEqual([
      { ...answers[0], duplicate: true },
    ])
    await heardSoFar()
  })

  test('a savepoint that is rolled back removes its own runs and no others', async () => {
    const items = [1, 2, 3].map((number) => `bread ${number} by ${name}`)
    const ids = await library.inTransaction(async (tx, say) => {
      const first = await q.enqueue('hello', { name: items[0]! }, { tx })
      await say('SAVEPOINT mine')
      const second = await q.enqueue('hello', { name: items[1]! }, { tx })
      await say('ROLLBACK TO SAVEPOINT mine')
      const third = await q.enqueue('hello', { name: items[2]! }, { tx })
      return [first.id, second.id, third.id]
    })
    const there = await Promise.all(ids.map(async (id) => (await q.get(id)) !== undefined))
    expect(there).toEqual([true, false, true])
    await heardSoFar()
  })

  test('concurrent enqueues all succeed', async () => {
    const runs = await library.inTransaction((tx) =>
      Promise.all([1, 2, 3, 4].map((number) => q.enqueue('hello', { name: `egg ${number} by ${name}` }, { tx }))),
    )
    const there = await Promise.all(runs.map(async ({ id }) => (await q.get(id))?.status))
    expect(there).toEqual(['AVAILABLE', 'AVAILABLE', 'AVAILABLE', 'AVAILABLE'])
    await heardSoFar()
  })

  test('a call that is rejected before anything is sent leaves the transaction usable', async () => {
    const item = `salt by ${name}`
    const run = await library.inTransaction(async (tx) => {
      await expect(q.enqueue('hello', { name: 1n } as never, { tx })).rejects.toMatchObject({
        code: 'PAYLOAD_NOT_JSON',
      })
      await expect(q.enqueue('hello', { name: item }, { tx, priority: 0.5 })).rejects.toMatchObject({
        code: 'PRIORITY_INVALID',
      })
      return q.enqueue('hello', { name: item }, { tx })
    })
    expect(await q.get(run.id)).toMatchObject({ status: 'AVAILABLE' })
    await heardSoFar()
  })

  test('a run with a concurrency key waits at its gate, and the commit announces the key', async () => {
    const account = `account of ${name}`
    const run = await library.inTransaction((tx) => q.enqueue('charge', { account }, { tx }))
    expect(await q.get(run.id)).toMatchObject({ status: 'PENDING' })
    expect(await heardSoFar()).toEqual([`q_gated charge\u001F${account}`])
  })

  test('a handle that is not a transaction is rejected, and nothing is enqueued', async () => {
    const tx = library.outside as TransactionHandle
    await expect(q.enqueue('hello', { name: `outside of ${name}` }, { tx })).rejects.toMatchObject({
      code: 'NOT_IN_TRANSACTION',
    })
    expect(await heardSoFar()).toEqual([])
  })
})

test('a pg client before BEGIN, and after COMMIT, is rejected', async () => {
  const enqueue = () => q.enqueue('hello', { name: 'before' }, { tx: listener })
  await expect(enqueue()).rejects.toMatchObject({ code: 'NOT_IN_TRANSACTION' })
  await listener.query('BEGIN; COMMIT')
  await expect(enqueue()).rejects.toMatchObject({ code: 'NOT_IN_TRANSACTION' })
})

test.each(['Kysely, controlled', 'Knex'])('a transaction of %s that has ended is rejected', async (name) => {
  const { library } = opened.find((candidate) => candidate.name === name)!
  const ended = await library.inTransaction((tx) => Promise.resolve({ tx }))
  await expect(q.enqueue('hello', { name: 'after' }, ended)).rejects.toMatchObject({ code: 'NOT_IN_TRANSACTION' })
})

test.each([null, 1, 'BEGIN', {}, [], () => {}, { query: 1 }, new Proxy({}, {})])(
  '%o is not a transaction',
  async (tx) => {
    await expect(q.enqueue('hello', { name: 'x' }, { tx: tx as never })).rejects.toMatchObject({
      code: 'NOT_IN_TRANSACTION',
    })
  },
)
