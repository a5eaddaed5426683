/** Waiting for a run and following it: how the caller learns of the end, and how many statements it takes. */
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { queue, RunFailed, type RunHandle, type RunProgress } from '@q/client'
import { createCompletionListener } from '../src/completion-listener.ts'
import { waitLimit } from '../src/poll.ts'
import { fixture } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { url, connection, store, settle, sessions, countingPool } = await fixture()
const { pool, taken } = countingPool()
const q = queue<typeof tasks>(pool)
afterAll(() => q.close())

const done = { status: 'SUCCEEDED', result: '"done"' } as const
const soon = { timeout: '100s' } as const

test('thousands of waits share one LISTEN session and a few statements, and each gets its own result', async () => {
  const runs = await q.enqueueMany(Array.from({ length: 3_000 }, (_, at) => ['hello', { name: `${at}` }] as const))
  taken()
  const results = runs.map((run) => run.result(soon))
  await marked(runs.at(-1)!)
  const sent = taken()
  // The first is sent alone; those that arrive in the meantime go a thousand at a time.
  expect(sent.filter((text) => /INTO q\.awaited\b/.test(text))).toHaveLength(4)
  expect(pool.totalCount).toBeLessThanOrEqual(4)
  expect(await sessions('q listen')).toBe(1)
  await settle(done, 3_000)
  expect(new Set(await Promise.all(results))).toEqual(new Set(['done']))
  expect(taken().length).toBeLessThan(100)
})

async function followed(progress: AsyncIterable<RunProgress>): Promise<RunProgress[]> {
  const seen: RunProgress[] = []
  for await (const now of progress) seen.push(now)
  return seen
}

/** The mark of a wait is written before the first read. */
async function marked(run: RunHandle<unknown>): Promise<void> {
  const { rows } = await sql`SELECT FROM q.awaited WHERE run_id = ${run.id}`.execute(connection.db)
  if (rows.length === 0) return marked(run)
}

test('a result arrives although the wake is lost', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result(soon)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q listen' AND datname = current_database()`.execute(connection.db)
  await settle({ status: 'SUCCEEDED', result: '1' })
  expect(await result).toBe(1)
})

test('a wait for a run that has ended resolves at once', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  await settle({ status: 'SUCCEEDED', result: '{"a":1}' })
  expect(await run.result(soon)).toEqual({ a: 1 })
  expect(await q.handle(run.id).result(soon)).toEqual({ a: 1 })
  expect(await followed(run.progress())).toEqual([{ status: 'SUCCEEDED', attempt: 1, progress: null, note: null }])
})

test('a failed run rejects with its code, attempts and the worker’s stack', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  await settle({ status: 'FAILED', code: 'TASK_ERROR', detail: 'Error: no', stack: 'at there' })
  const error: unknown = await run.result().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(RunFailed)
  expect(error).toMatchObject({ code: 'TASK_ERROR', attempts: 1, remoteStack: 'at there', run: { id: run.id } })
})

test('a wait rejects at its timeout or with the caller’s signal; the run continues', async () => {
  const run = await q.enqueue('hello', { name: 'x' }, { delay: '1h' })
  await expect(run.result({ timeout: '1ms' })).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' })
  const reason = new Error('the user left')
  await expect(run.result({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  await expect(run.result({ signal: AbortSignal.timeout(1) })).rejects.toMatchObject({ name: 'TimeoutError' })
  const leaving = new AbortController()
  const waits = run.result({ signal: leaving.signal })
  leaving.abort(reason)
  await expect(waits).rejects.toBe(reason)
  expect(await run.status()).toMatchObject({ status: 'PENDING' })
  expect(await run.cancel()).toBe('cancelled')
})

test('progress yields every change, from waiting to running and as the code reports it, and last the final state', async () => {
  const run = await q.enqueue('hello', { name: 'followed' })
  const seen: RunProgress[] = []
  let lease: { runId: typeof run.id; fence: number } | undefined
  for await (const now of run.progress()) {
    seen.push(now)
    if (lease === undefined) {
      const [claimed] = await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['hello'], queues: [], limit: 1 })
      lease = { runId: claimed!.runId, fence: claimed!.fence }
    } else if (now.status === 'RUNNING' && now.progress === null) {
      const at = { lease, thread: 0, ageMs: 0, progress: 0.5, note: 'half' } as const
      await store.beatTaskRuns({ replicaId: 'r', hostname: 'h', pid: 1 }, [at])
    } else if (now.status === 'RUNNING') {
      const by = { hostname: 'h', pid: 1, thread: 0 }
      await store.settleTaskRuns([{ lease, outcome: done, by }])
    }
  }
  expect(seen).toEqual([
    { status: 'AVAILABLE', attempt: 0, progress: null, note: null },
    { status: 'RUNNING', attempt: 1, progress: null, note: null },
    { status: 'RUNNING', attempt: 1, progress: 0.5, note: 'half' },
    { status: 'SUCCEEDED', attempt: 1, progress: null, note: null },
  ])
  expect(await run.result()).toBe('done')
})

test('following a run leaves no timer or watcher behind when it stops early or is aborted', async () => {
  const run = await q.enqueue('hello', { name: 'x' }, { delay: '1h' })
  for await (const { status } of run.progress()) {
    expect(status).toBe('PENDING')
    break
  }
  const stop = new AbortController()
  const following = (async () => {
    for await (const { status } of run.progress({ signal: stop.signal })) stop.abort(new Error(`${status} is enough`))
  })()
  await expect(following).rejects.toThrow('PENDING is enough')
  await expect(followed(q.handle('999999999').progress())).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('leaving the progress loop returns at once while nothing changes', async () => {
  const run = await q.enqueue('hello', { name: 'x' }, { delay: '1h' })
  const progress = run.progress()
  expect(await progress.next()).toMatchObject({ value: { status: 'PENDING' } })
  const pending = progress.next()
  expect(await progress.return?.()).toEqual({ done: true, value: undefined })
  expect(await pending).toEqual({ done: true, value: undefined })
})

test('close() ends the LISTEN session, even while a wait is opening it', async () => {
  const before = await sessions('q listen')
  const listener = createCompletionListener(url)
  await listener.close()
  await listener.open()
  expect(await sessions('q listen')).toBeLessThanOrEqual(before)
})

test('close() rejects pending waits and progress loops', async () => {
  const closing = queue<typeof tasks>(pool)
  const run = await closing.enqueue('hello', { name: 'x' }, { delay: '1h' })
  const rejected = run.result(soon).catch((error: unknown) => error)
  const following = followed(run.progress()).catch((error: unknown) => error)
  await closing.close()
  expect(await rejected).toMatchObject({ code: 'QUEUE_CLOSED' })
  expect(await following).toMatchObject({ code: 'QUEUE_CLOSED' })
})

test.each([
  ['a database', () => url],
  ['a pool', () => pool],
])('calls after close() of a queue on %s are refused with the reason', async (_, database) => {
  const closing = queue<typeof tasks>(database())
  const run = await closing.enqueue('hello', { name: 'x' }, { delay: '1h' })
  await closing.close()
  await closing.close()
  const closed = { code: 'QUEUE_CLOSED' }
  await expect(closing.enqueue('hello', { name: 'x' })).rejects.toMatchObject(closed)
  await expect(closing.schedules()).rejects.toMatchObject(closed)
  await expect(run.status()).rejects.toMatchObject(closed)
  await expect(run.result()).rejects.toMatchObject(closed)
  expect(await q.get(run)).toMatchObject({ status: 'PENDING' })
})

test('a wait that has ended leaves no timer behind', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const end = waitLimit(60_000, () => new Error('too late'), undefined)
  expect(vi.getTimerCount()).toBe(1)
  end[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
  expect(end.signal.aborted).toBe(false)
})

test('a timeout beyond the range of timers does not limit the wait', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  const result = run.result({ timeout: '60d' })
  await settle({ status: 'SUCCEEDED', result: '2' })
  expect(await result).toBe(2)
})
