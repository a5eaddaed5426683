/** Runs in batches, on real threads: what happens to one of them does not happen to its neighbours. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Queue } from '@q/client'
import { connect } from '@q/store'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { marksFile } from './marks.ts'
import type * as tasks from './tasks/batched.ts'

type Tasks = typeof tasks
type Short = 'short' | 'shortAgain' | 'shortLimited' | 'oneAtATime'

/** A replica that knows how short these runs are: it was given some before. */
async function practised(task: Short, env: Record<string, string> = {}, behindProxy = false) {
  const options = { threads: 2, env: { Q_START_AHEAD_MS: '2000', ...env } }
  const scene = await execution<Tasks>('batched', { ...options, behindProxy })
  const q = scene.q as unknown as Queue<Record<string, never>>
  const enqueue = async (payloads: readonly tasks.ShortPayload[]) =>
    q.enqueueMany(payloads.map((payload) => [task, payload] as never))
  const first = await enqueue(Array.from({ length: 8 }, () => ({})))
  await Promise.all(first.map((run) => run.result({ timeout: '60s' })))
  return { ...scene, enqueue, ended: endedIn(scene.url) }
}

function endedIn(url: string) {
  return async (count: number) =>
    eventually(async () => {
      const connection = connect(url, { purpose: 'control' })
      try {
        const { rows } = await sql<{ status: string; attempt: number; fence: number; runs: number }>`
          SELECT status, attempt, fence, count(*)::int AS runs FROM q.task_run GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`.execute(
          connection.db,
        )
        const over = rows.filter(({ status }) => !['AVAILABLE', 'RUNNING', 'PENDING'].includes(status))
        return over.reduce((sum, { runs }) => sum + runs, 0) === count ? rows : undefined
      } finally {
        await connection.close()
      }
    }, `${count} runs have ended`)
}

const shorts = (count: number): tasks.ShortPayload[] => Array.from({ length: count }, () => ({}))

test('short runs are handed over in batches, and each one is executed once, no matter what it returns, throws or logs', async () => {
  const { enqueue, ended, events } = await practised('short')
  const others = (['throws', 'logs', 'a large result'] as const).map((does) => ({ does }))
  const runs = await enqueue([...shorts(100), ...others, ...shorts(100)])
  const [, logs, large] = runs.slice(100, 103)
  expect(await large?.result({ timeout: '60s' })).toHaveLength(5_000)
  expect(await logs?.result({ timeout: '60s' })).toBeTypeOf('number')
  const rows = await ended(211)
  expect(rows.map(({ status, attempt, runs: count }) => [status, attempt, count])).toEqual([
    ['SUCCEEDED', 1, 210],
    ['FAILED', 1, 1],
  ])
  expect(events).toContainEqual(expect.objectContaining({ type: 'task-log', line: 'a line' }))
})

test.each([
  ['exits', 'short', 'WORKER_CRASHED'],
  ['loops', 'shortLimited', 'TIMEOUT'],
] as const)(
  'a run that %s in the middle of a batch ends alone; its neighbours are executed once',
  async (does, task, code) => {
    const { enqueue, ended } = await practised(task)
    const runs = await enqueue([...shorts(20), { does }, ...shorts(60)])
    await expect(runs[20]?.result({ timeout: '60s' })).rejects.toMatchObject({ code })
    const rows = await ended(89)
    const succeeded = rows.filter(({ status }) => status === 'SUCCEEDED')
    expect(succeeded.reduce((sum, { runs: count }) => sum + count, 0)).toBe(88)
    expect(rows.every(({ attempt }) => attempt === 1)).toBe(true)
  },
)

test('runs behind one that takes longer than expected are executed elsewhere', async () => {
  const { enqueue } = await practised('short')
  const { file: until, open } = gate()
  const [waits, ...others] = await enqueue([{ does: 'waits', until }, ...shorts(60)])
  await Promise.all(others.map((run) => run.result({ timeout: '60s' })))
  expect((await waits?.status())?.status).toBe('RUNNING')
  open()
  await waits?.result({ timeout: '60s' })
})

test('a task that switches start-ahead off never has more runs started than threads', async () => {
  const { enqueue, ended, events } = await practised('oneAtATime')
  await enqueue(shorts(60))
  await ended(68)
  let open = 0
  let most = 0
  for (const { type } of events) {
    if (type === 'run-started') most = Math.max(most, ++open)
    if (type === 'run-ended') open--
  }
  // The event of an end follows its write; until then the thread may have begun the next one.
  expect(most).toBeLessThanOrEqual(4)
})

test('a drain in the middle of a batch releases the runs that have not begun, with their attempt', async () => {
  const { enqueue, runner, url } = await practised('shortAgain')
  const { file: until } = gate()
  const mark = marksFile()
  const waiting = { does: 'waits', until, mark: mark.file } as const
  await enqueue([{ ...waiting, name: '1' }, { ...waiting, name: '2' }, ...shorts(80)])
  await eventually(() => (mark.all().length >= 1 ? true : undefined), 'a run of the batch has begun')
  await Promise.race([runner.drain(), runner.drain()])
  const connection = connect(url, { purpose: 'control' })
  const { rows } = await sql<{ status: string; attempt: number; n: number }>`
    SELECT status, attempt, count(*)::int AS n FROM q.task_run WHERE status NOT IN ('SUCCEEDED') GROUP BY 1, 2`.execute(
    connection.db,
  )
  await connection.close()
  expect(rows).not.toEqual([])
  for (const { status, attempt } of rows) expect([status, attempt]).toEqual(['AVAILABLE', 0])
  expect(mark.all().length).toBeLessThanOrEqual(2)
})

test('runs that need a process, and steps of a workflow, are executed once among the runs of batches', async () => {
  const { q, enqueue, ended, store } = await practised('short')
  const mixed = Array.from({ length: 6 }, () => ['shortAlone', {}] as never)
  const plan = {
    name: 'mixed',
    steps: ['first', 'second'].map((name, index) => ({
      kind: 'task' as const,
      name,
      task: 'short',
      after: index === 0 ? [] : ['first'],
      payload: { value: {}, holes: {} },
    })),
  }
  const lane = await store.internLane({ queue: 'default', task: 'short' })
  await enqueue(shorts(60))
  await (q as unknown as Queue<Record<string, never>>).enqueueMany(mixed)
  await store.startWorkflow({ plan, input: null, tasks: { short: { lane } } })
  await enqueue(shorts(60))
  const rows = await ended(8 + 60 + 6 + 2 + 60)
  expect(rows.map(({ status, attempt }) => [status, attempt])).toEqual(rows.map(() => ['SUCCEEDED', 1]))
})

test('a database outage in the middle of batches loses no run: each one ends once, at its first attempt', async () => {
  const { enqueue, ended, proxy, events } = await practised('short', {}, true)
  const { file: until, open } = gate()
  await enqueue([...shorts(40), { does: 'waits', until }, ...shorts(40)])
  await eventually(
    () => (events.filter(({ type }) => type === 'run-started').length > 50 ? true : undefined),
    'batches are on their way',
  )
  proxy?.cut()
  await eventually(() => (events.some(({ type }) => type === 'beat-failed') ? true : undefined), 'it is cut off')
  open()
  proxy?.restore()
  const rows = await ended(89)
  expect(rows.map(({ status, attempt }) => [status, attempt])).toEqual(rows.map(() => ['SUCCEEDED', 1]))
})
