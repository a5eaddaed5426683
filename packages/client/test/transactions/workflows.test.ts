/** Workflows that are started in users' own transactions, for each library. */
import { Client } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { queue, workflow, type Ref } from '@q/client'
import { task } from '@q/task'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { libraries } from './libraries.ts'

interface Account {
  readonly account_id: string
}
const tasks = {
  debit: task({ concurrency: { key: '/account_id' } }, ({ account_id }: Account) => ({ account_id })),
  credit: task((_: { readonly of: Account }) => 1),
}

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const q = queue(database.url, { tasks })
const opened = Object.entries(libraries).map(([name, open]) => ({ name, library: open(database.url) }))
const by = { hostname: 'h', pid: 1, thread: 0 }
afterAll(async () => {
  await Promise.all(opened.map(({ library }) => library.close()))
  await q.close()
  await connection.close()
  await database.drop()
})

const transfer = workflow<typeof tasks>()('transfer', (w, input: Ref<Account>) => {
  const debited = w.step('debit', input)
  w.step('credit', { of: debited })
  return debited
})

async function finish(name: keyof typeof tasks, result: unknown): Promise<string[]> {
  const claimed = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: [name], queues: [], limit: 9 })
  const outcome = { status: 'SUCCEEDED', result: JSON.stringify(result) } as const
  await store.settleTaskRuns(claimed.map(({ runId, fence }) => ({ lease: { runId, fence }, outcome, by })))
  return claimed.map(({ payload }) => payload)
}

describe.each(opened)('in a transaction of $name', ({ name, library }) => {
  test('a workflow begins with the commit, and its handle has its result', async () => {
    const input = { account_id: name }
    const started = await library.inTransaction((tx) => q.start(transfer, input, { tx }))
    expect(started.id).toMatch(/^\d+$/)
    await store.sweepGatedKeys(10)
    expect((await finish('debit', input)).map((payload) => JSON.parse(payload) as unknown)).toEqual([input])
    await finish('credit', 1)
    expect(await started.result({ timeout: '100s' })).toEqual(input)
  })

  test('a step takes no slot of its concurrency key before the commit', async () => {
    const input = { account_id: `key of ${name}` }
    const started = await library.inTransaction(async (tx) => {
      const within = await q.start(transfer, input, { tx })
      const outside = await q.enqueue('debit', input)
      expect(await q.get(outside)).toMatchObject({ status: 'AVAILABLE' })
      return within
    })
    await started.cancel()
    await finish('debit', input)
  })
})

test('a step that is started on a client in a transaction takes no slot before the commit', async () => {
  const input = { account_id: 'key of a client' }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const own = queue(client, { tasks })
  await client.query('BEGIN')
  const started = await own.start(transfer, input)
  expect(await q.get(await q.enqueue('debit', input))).toMatchObject({ status: 'AVAILABLE' })
  await client.query('COMMIT')
  await started.cancel()
  await finish('debit', input)
  await own.close()
  await client.end()
})
