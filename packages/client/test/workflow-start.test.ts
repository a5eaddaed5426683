/** Workflows as a producer starts, follows and steers them; their steps are executed here, without threads. */
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { queue, workflow, WorkflowFailed, type Ref, type Task, type WorkflowProgress } from '@q/client'
import { fixture, ownPool } from './fixture.ts'
import * as tasks from './workflow-tasks.ts'

const { url, connection, store, sessions } = await fixture()

const q = queue(url, { tasks })

afterAll(() => q.close())

const soon = { timeout: '100s' } as const

const by = { hostname: 'h', pid: 1, thread: 0 }

/** What a replica does, without its threads, until nothing is left to do; `limit`: so many runs at most. */
async function work(limit = 1_000): Promise<void> {
  let left = limit
  while (left > 0) {
    const order = { replicaId: 'r', tasks: Object.keys(tasks), queues: [], limit: Math.min(left, 100) }
    const claimed = await store.claimAvailableTaskRuns(order)
    const payloads = await store.stepPayloads(claimed.map(({ runId }) => runId))
    for (const { runId, fence, task, payload } of claimed) {
      const outcome = await outcomeOf(task, payloads.get(runId) ?? payload)
      await store.settleTaskRuns([{ lease: { runId, fence }, outcome, by }])
    }
    left = claimed.length === 0 ? 0 : left - claimed.length
  }
}

const known = new Map<string, unknown>(Object.entries(tasks))

/** Words that make a task fail; a test can remove one. */
let broken = 'broken'

async function outcomeOf(name: string, payload: string) {
  const { run } = known.get(name) as Task<unknown>
  try {
    const result = await run(JSON.parse(payload.replaceAll('broken', broken)), undefined as never)
    return { status: 'SUCCEEDED', result: JSON.stringify(result) } as const
  } catch (error) {
    return { status: 'FAILED', code: 'TASK_ERROR', detail: String(error) } as const
  }
}

async function workflowsStarted(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM q.workflow`.execute(connection.db)
  return rows[0]!.count
}

const define = workflow<typeof tasks>()

type Source = { repo: string; commit: string }

const build = define('build', ({ step, map, compensate }, input: Ref<Source>) => {
  const source = step('fetch', { repo: input.repo, commit: input.commit })
  const objects = map('compile', source.files, (file) => ({ file }), { parallel: 1 })
  const linked = step('link', { objects })
  const tested = step('test', { binary: linked.path })
  const published = step('publish', { binary: linked.path, report: tested })
  compensate(linked, 'unpublish', ({ path }) => ({ url: path }))
  return { binary: linked.path, url: published.url, commit: source.commit, passed: tested.passed }
})

const single = define(
  'single',
  ({ step }, input: Ref<{ name: string }>) => step('test', { binary: input.name }).coverage,
)

test('results flow from step to step, and the handle returns the output', async () => {
  const run = await q.start(build, { repo: 'r', commit: 'c' })
  const result = run.result(soon)
  await work()
  expect(await result).toEqual({ binary: 'r/a.c.o+r/b.c.o', url: 'https://r/a.c.o+r/b.c.o', commit: 'c', passed: true })
  expect(await run.status()).toMatchObject({ name: 'build', status: 'SUCCEEDED', progress: { ended: 7, total: 7 } })
  const steps = await run.steps()
  expect(steps.map(({ name }) => name)).toEqual([
    'fetch',
    'compile',
    'link',
    'test',
    'publish',
    'compile[0]',
    'compile[1]',
  ])
  expect(await q.workflow(run.id, build).result(soon)).toEqual(await result)
})

test('progress of a workflow ends with its final state, and never earlier', async () => {
  const run = await q.start(build, { repo: 'r', commit: 'c' })
  const seen: WorkflowProgress[] = []
  for await (const now of run.progress()) {
    seen.push(now)
    await work(4)
  }
  expect(seen[0]).toMatchObject({ status: 'RUNNING', ended: 0, total: 5, steps: { AVAILABLE: 1, PENDING: 4 } })
  expect(seen.at(-1)).toMatchObject({ status: 'SUCCEEDED', ended: 7, total: 7 })
  expect(seen.filter(({ status }) => status === 'SUCCEEDED')).toHaveLength(1)
})

test('a failed workflow rejects with its code and the failed steps', async () => {
  const run = await q.start(build, { repo: 'broken', commit: 'c' })
  await work()
  const error: unknown = await run.result(soon).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(WorkflowFailed)
  expect(error).toMatchObject({
    code: 'TASK_ERROR',
    message: expect.stringMatching(
      /^Workflow \d+ \(build\) ended FAILED \(TASK_ERROR\): Step "fetch" ended FAILED/,
    ) as string,
    failed: [{ name: 'fetch', task: 'fetch', status: 'FAILED', code: 'TASK_ERROR' }],
    workflow: { status: 'FAILED' },
  })
})

test('pause holds steps, resume releases them, cancel compensates steps that succeeded', async () => {
  const run = await q.start(build, { repo: 'r', commit: 'c' })
  expect(await run.pause('Ada')).toBe('paused')
  await work()
  expect(await run.status()).toMatchObject({ status: 'PAUSED', pausedBy: 'Ada', progress: { ended: 0 } })
  expect(await run.resume()).toBe('resumed')
  await work(4)
  expect(await run.cancel()).toBe('requested')
  await work()
  await expect(run.result(soon)).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
  const undone = (await run.steps()).find(({ kind }) => kind === 'compensation')!
  expect(await q.handle(undone.runId).result(soon)).toEqual({ gone: 'r/a.c.o+r/b.c.o' })
  expect(await run.cancel()).toBe('already-ended')
})

test('the handle retries failed steps, and the workflow continues', async () => {
  const again = define(
    'again',
    ({ step }, input: Ref<{ name: string }>) => ({ passed: step('test', { binary: input.name }).passed }),
    { onError: 'pause' },
  )
  const run = await q.start(again, { name: 'broken' })
  await work()
  expect((await run.status()).status).toBe('PAUSED')
  broken = 'mended'
  onTestFinished(() => void (broken = 'broken'))
  expect(await run.retryFailed()).toBe('retried')
  await work()
  expect(await run.result(soon)).toEqual({ passed: true })
  expect(await run.retryFailed()).toBe('nothing-failed')
})

test('a step that tolerates failures gets a MissingResult, and the output type shows it', async () => {
  const reported = define(
    'reported',
    ({ step, map, sub, is, ended, orMissing }, input: Ref<{ files: string[]; name: string }>) => {
      const tested = step('test', { binary: input.name })
      const report = step('report', { tested, note: input.name }, { allowFailed: true })
      const objects = map('compile', input.files, (file) => ({ file }), { onItemError: 'collect' })
      const alarm = step(
        'publish',
        { binary: 'alarm' },
        { name: 'alarm', allowFailed: true, when: ended(tested, 'FAILED') },
      )
      const inner = sub(single, { name: 'b' })
      const published = step('publish', { binary: 'b' }, { when: is(inner, { above: 90 }) })
      return { reported: report.tested, objects, inner, alarm: orMissing(alarm.url), url: orMissing(published.url) }
    },
  )
  const run = await q.start(reported, { files: ['a', 'broken'], name: 'broken' })
  await work()
  const output = await run.result(soon)
  expect(output).toEqual({
    reported: { code: 'TASK_ERROR', detail: 'Error: broken is broken' },
    objects: [{ object: 'a.o', bytes: 3 }, expect.objectContaining({ code: 'TASK_ERROR' })],
    inner: 80,
    alarm: 'https://alarm',
    url: expect.objectContaining({ code: 'CONDITION_NOT_MET' }) as object,
  })
})

test('a workflow exists once its transaction commits, and a rollback removes it', async () => {
  const pool = ownPool(url, 1)
  const tx = await pool.connect()
  const before = await workflowsStarted()
  await tx.query('BEGIN')
  await q.start(single, { name: 'b' }, { tx })
  await tx.query('ROLLBACK')
  expect(await workflowsStarted()).toBe(before)
  await tx.query('BEGIN')
  const run = await q.start(single, { name: 'b' }, { tx })
  await tx.query('COMMIT')
  tx.release()
  await pool.end()
  await work()
  expect(await run.result(soon)).toBe(80)
})

test('waits for runs and waits for workflows share one session', async () => {
  const run = await q.start(single, { name: 'b' })
  const alone = await q.enqueue('test', { binary: 'b' })
  const results = Promise.all([run.result(soon), alone.result(soon)])
  await work()
  expect(await results).toEqual([80, expect.objectContaining({ coverage: 80 })])
  expect(await sessions('q listen')).toBe(1)
})

test('a result arrives although the wake is lost', async () => {
  const run = await q.start(single, { name: 'b' })
  const result = run.result(soon)
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'q listen' AND datname = current_database()`.execute(connection.db)
  await work()
  expect(await result).toBe(80)
})

test('a workflow without input starts without one, and its steps have their options', async () => {
  const nightly = define('nightly', ({ step }) => void step('test', { binary: 'b' }, { priority: -7, attempts: 4 }))
  const run = await q.start(nightly)
  const [step] = await run.steps()
  expect((await store.getTaskRun(step!.runId))?.run).toMatchObject({ priority: -7, maxAttempts: 4 })
  await work()
  expect(await run.result(soon)).toBeNull()
})

test('a missing workflow is not found, an invalid id is rejected, and a wait has a timeout', async () => {
  await expect(q.workflow('999999999').result(soon)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  await expect(q.workflow('999999999').status()).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  expect(() => q.workflow('x')).toThrow(expect.objectContaining({ code: 'WORKFLOW_ID_INVALID' }))
  const run = await q.start(single, { name: 'b' })
  await expect(run.result({ timeout: 1 })).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' })
  await run.cancel()
})
