import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { queue, RunFailed } from '@q/client'
import { connect, createStore, type Outcome } from '@q/store'
import { testDatabase } from '@q/testing'
import type * as tasks from './tasks.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const q = queue<typeof tasks>(database.url)
afterAll(async () => {
  await q.close()
  await connection.close()
  await database.drop()
})

/** What a replica does, without its threads. */
async function settleAll(outcome: Outcome, count = 1): Promise<void> {
  for (let settled = 0; settled < count;) settled += await settleSome(outcome)
}

async function settleSome(outcome: Outcome): Promise<number> {
  const claimed = await store.claimAvailableTaskRuns({
    replicaId: 'r',
    tasks: ['hello', 'resize'],
    queues: [],
    limit: 5_000,
  })
  await store.settleTaskRuns(
    claimed.map(({ runId, fence }) => ({ lease: { runId, fence }, outcome, by: { hostname: 'h', pid: 1, thread: 0 } })),
  )
  return claimed.length
}

async function sessions(name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = ${name} AND datname = current_database()`.execute(connection.db)
  return rows[0]!.count
}

test('a thousand who wait share one listening session, and each gets its own result', async () => {
  const runs = await Promise.all(Array.from({ length: 1_000 }, () => q.enqueue('hello', { name: 'x' })))
  const results = runs.map((run) => run.result({ timeout: '30s' }))
  await settleAll({ status: 'SUCCEEDED', result: '"done"' }, 1_000)
  expect(new Set(await Promise.all(results))).toEqual(new Set(['done']))
  expect(await sessions('q listen')).toBe(1)
})

test('a result arrives also when the wake is lost', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result({ timeout: '30s' })
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q listen' AND datname = current_database()`.execute(connection.db)
  await settleAll({ status: 'SUCCEEDED', result: '1' })
  expect(await result).toBe(1)
})

test('a run that is already over answers at once', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  await settleAll({ status: 'SUCCEEDED', result: '{"a":1}' })
  expect(await run.result({ timeout: '30s' })).toEqual({ a: 1 })
  expect(await q.handle(run.id).result({ timeout: '30s' })).toEqual({ a: 1 })
  expect(await q.get(run.id)).toMatchObject({ id: run.id, task: 'hello', status: 'SUCCEEDED' })
})

test('a run that failed throws its code, attempts and the stack of the worker', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  await settleAll({ status: 'FAILED', code: 'TASK_ERROR', detail: 'Error: no', stack: 'at there' })
  const error: unknown = await run.result().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(RunFailed)
  expect(error).toMatchObject({ code: 'TASK_ERROR', attempts: 1, remoteStack: 'at there' })
})

test('a run that does not exist is not found, and what is no id is refused', async () => {
  expect(await q.get('999999999')).toBeUndefined()
  await expect(q.handle('999999999').result({ timeout: '30s' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  for (const id of ['0', '-1', 'x', '1.5', '99999999999999999999']) {
    expect(() => q.handle(id)).toThrow(expect.objectContaining({ code: 'RUN_ID_INVALID' }))
  }
})

test.each([
  ['a function', () => 1, 'PAYLOAD_NOT_JSON'],
  ['undefined', undefined, 'PAYLOAD_NOT_JSON'],
  ['a bigint inside', { name: 1n }, 'PAYLOAD_NOT_JSON'],
  ['a NUL character', { name: '\0' }, 'PAYLOAD_UNSTORABLE'],
  ['a text of 2 MB', { name: 'x'.repeat(2_000_000) }, 'PAYLOAD_TOO_LARGE'],
])('%s is not a payload', async (_, payload, code) => {
  await expect(q.enqueue('hello', payload as never)).rejects.toMatchObject({ code })
})

test('a task goes to the queue its replicas have published, also one that nobody has published yet', async () => {
  const fresh = queue<typeof tasks>(database.url)
  const queueOf = async (id: string) => {
    const { rows } = await sql<{ queue: string }>`SELECT l.queue FROM q.task_run r JOIN q.lane l ON l.id = r.lane
      WHERE r.id = ${id}`.execute(connection.db)
    return rows[0]?.queue
  }
  expect(await queueOf((await fresh.enqueue('resize', { url: 'x' })).id)).toBe('default')
  await store.publishTasks('r', [{ name: 'resize', queue: 'cpu', options: { onCrash: 'retry' }, payloadSchema: null }])
  const later = queue<typeof tasks>(database.url)
  const run = await later.enqueue('resize', { url: 'x' })
  expect(await queueOf(run.id)).toBe('cpu')
  await Promise.all([fresh.close(), later.close()])
})

test('who waits when the queue is closed is told so', async () => {
  const closing = queue<typeof tasks>(database.url)
  const run = await closing.enqueue('hello', { name: 'x' }, { delay: '1h' })
  const waiting = run.result({ timeout: '30s' })
  const told = waiting.catch((error: unknown) => error)
  await closing.close()
  expect(String(await told)).toContain('closed')
})

test('a wait for longer than timers can count is as long as it takes', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result({ timeout: '60d' })
  await settleAll({ status: 'SUCCEEDED', result: '2' })
  expect(await result).toBe(2)
})
