import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { RunFailed } from '@q/client'
import { access } from './database-access.ts'
import { cluster, eventually } from './fixture.ts'
import type { StrangeEnd } from './tasks/well-behaved.ts'

async function failure(promise: Promise<unknown>): Promise<RunFailed> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RunFailed) return error
  throw new Error(`did not fail as a run does: ${String(error)}`)
}

test('a caller that waits receives the result of the code', async () => {
  const { q, start } = await cluster()
  await start()
  const run = await q.enqueue('echo', { deep: [1, 'two', null] })
  expect(await run.result({ timeout: '100s' })).toEqual({ deep: [1, 'two', null] })
  expect(await run.status()).toMatchObject({ status: 'SUCCEEDED', attempt: 1 })
})

test('code runs on worker threads of the replica, several at once', async () => {
  const { q, start } = await cluster()
  await start({ Q_THREADS: '2' })
  const both = await Promise.all([q.enqueue('spins', { ms: 2_000 }), q.enqueue('spins', { ms: 2_000 })])
  await eventually(async () => {
    const states = await Promise.all(both.map(async (run) => (await run.status()).status))
    return states.every((state) => state === 'RUNNING') ? true : undefined
  }, 'both run at one moment')
  await Promise.all(both.map((run) => run.result({ timeout: '100s' })))
  const where = await (await q.enqueue('thread', {})).result({ timeout: '100s' })
  expect(where.pid).toBe(process.pid)
  expect(where.threadId).not.toBe(0)
})

test('a run that was enqueued before any replica existed is executed when one starts', async () => {
  const { q, start } = await cluster()
  const run = await q.enqueue('echo', 'early')
  await start()
  expect(await run.result({ timeout: '100s' })).toBe('early')
})

test('a run with a delay is not started before its time, by the clock of the database', async () => {
  const { q, start, url } = await cluster()
  await start()
  const { db } = access(url)
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(db)
  const muchLater = await q.enqueue('echo', 'much later', { delay: '1h' })
  const run = await q.enqueue('echo', 'later', { delay: '1s' })
  await run.result({ timeout: '100s' })
  expect((await muchLater.status()).status).toBe('PENDING')
  const times = await db.selectFrom('q.task_run').selectAll().where('id', '=', run.id).executeTakeFirstOrThrow()
  expect(times.started_at!.getTime()).toBeGreaterThanOrEqual(times.run_at.getTime())
  expect(times.run_at.getTime() - rows[0]!.now.getTime()).toBeGreaterThanOrEqual(1_000)
})

test('an error in the code fails the run with its message and the stack of the worker', async () => {
  const { q, start } = await cluster()
  await start()
  const failed = await failure((await q.enqueue('fails', {})).result({ timeout: '100s' }))
  expect(failed).toMatchObject({ code: 'TASK_ERROR', attempts: 1 })
  expect(failed.message).toContain('TypeError: out of luck')
  expect(failed.remoteStack).toContain('well-behaved.ts')
})

test.each([
  ['throwsNothing', 'TASK_ERROR'],
  ['circular', 'INVALID_RESULT'],
  ['huge', 'RESULT_TOO_LARGE'],
  ['exits', 'WORKER_CRASHED'],
] as const)('%s ends its run with %s and affects no other run', async (task, code) => {
  const { q, start } = await cluster()
  await start()
  expect(await failure((await q.enqueue(task, {})).result({ timeout: '100s' }))).toMatchObject({ code })
  expect(await (await q.enqueue('echo', 'alive')).result({ timeout: '100s' })).toBe('alive')
})

test('characters that jsonb cannot store are repaired, and the run still succeeds', async () => {
  const { q, start } = await cluster()
  await start()
  const result = await (await q.enqueue('strange', {})).result({ timeout: '100s' })
  expect(result).toEqual({ text: 'a\uFFFDb\uFFFDc', bad: '1', nan: null })
})

test.each<[StrangeEnd, unknown]>([
  ['nothing', null],
  ['strangeKey', { a: { 'x\uFFFD': 1, ok: '😀' } }],
  ['holes', [1, null, 3]],
  ['methods', { call: null, kept: 1 }],
])('%s is a result that can be repaired: the run succeeds', async (end, result) => {
  const { q, start } = await cluster()
  await start()
  expect(await (await q.enqueue('endsStrangely', end)).result({ timeout: '100s' })).toEqual(result)
})

test('any kind of result or error ends the run with a code and a location, and affects no other run', async () => {
  const ends: Record<string, [code: string, detail: string]> = {
    bigint: ['INVALID_RESULT', '/deep/0/id is a bigint'],
    deep: ['INVALID_RESULT', 'is more than 64 levels deep'],
    symbol: ['INVALID_RESULT', 'the whole is a symbol'],
    map: ['INVALID_RESULT', '/map is an instance of Map'],
    getter: ['INVALID_RESULT', '/a/b cannot be read: not today'],
    longText: ['RESULT_TOO_LARGE', 'at least 50000002 bytes'],
    doubling: ['RESULT_TOO_LARGE', 'at most 1048576 are stored'],
    strangeError: ['TASK_ERROR', 'a\uFFFDb\uFFFD'],
    stackIsANumber: ['TASK_ERROR', 'Error: odd'],
    stackThrows: ['TASK_ERROR', 'Error: worse'],
    unspeakable: ['TASK_ERROR', 'cannot even be written as text'],
  } satisfies Partial<Record<StrangeEnd, [code: string, detail: string]>>
  const { q, start } = await cluster()
  await start()
  for (const [end, [code, detail]] of Object.entries(ends)) {
    const run = await q.enqueue('endsStrangely', end as StrangeEnd)
    const { code: endedWith, message } = await failure(run.result({ timeout: '100s' }))
    expect({ end, code: endedWith, message }).toEqual({ end, code, message: expect.stringContaining(detail) })
  }
  expect(await (await q.enqueue('echo', 'alive')).result({ timeout: '100s' })).toBe('alive')
})

test('the context names the run, the attempt, the lease and a key that is the same for every attempt', async () => {
  const { q, start } = await cluster()
  await start()
  const run = await q.enqueue('context', {})
  expect(await run.result({ timeout: '100s' })).toEqual({
    runId: run.id,
    attempt: 1,
    key: `${run.id}-1`,
    lease: { runId: run.id, fence: 1 },
    aborted: false,
  })
})

test('a caller can stop waiting while the run continues', async () => {
  const { q, start } = await cluster()
  const run = await q.enqueue('echo', 1)
  await expect(run.result({ timeout: '50ms' })).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' })
  await expect(run.result({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  await start()
  expect(await run.result({ timeout: '100s' })).toBe(1)
})
