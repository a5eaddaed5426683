/** Stopping code that does not stop by itself: really, and without harm to its neighbours. */
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { SlotStats } from '@q/runner'
import { connect } from '@q/store'
import { noEvidenceMsMax } from '../src/main/liveness/run-limits.ts'
import { execution, type Execution } from './execution.ts'
import { eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { programs } from './programs.ts'
import type * as tasks from './tasks/stubborn.ts'

/** As other programs see them. */
async function beatenThreads(url: string): Promise<unknown> {
  const connection = connect(url, { purpose: 'control' })
  try {
    return (await connection.db.selectFrom('q.replica_heartbeat').select('threads').executeTakeFirstOrThrow()).threads
  } finally {
    await connection.close()
  }
}

type Name = keyof typeof tasks

async function startedRun(replica: Execution<typeof tasks>, task: Name, payload: unknown = {}) {
  const run = await replica.q.enqueue(task, payload)
  await eventually(() => replica.runner.threads().find(({ runId }) => runId === run.id), `${task} is executed`)
  return run
}

describe.each([
  ['thread', { timedOut: 'timedOut', silent: 'silent', endless: 'endless' }],
  ['process', { timedOut: 'timedOutAlone', silent: 'silentAlone', endless: 'endlessAlone' }],
] as const)('for(;;){} in a %s', (_, stubborn) => {
  test('is stopped by timeout, by silence and by cancel; other runs are not affected', async () => {
    const replica = await execution<typeof tasks>('stubborn', { threads: 4 })
    const { q, store } = replica
    const { file: until, open } = gate()
    const neighbour = await startedRun(replica, 'talks', { until })
    const timedOut = await q.enqueue(stubborn.timedOut, {})
    const silent = await q.enqueue(stubborn.silent, {})
    const { file: began } = gate()
    const cancelled = await q.enqueue(stubborn.endless, { began })
    await eventually(() => existsSync(began) || undefined, 'the endless loop begins')
    await expect(timedOut.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(silent.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'SILENT' })
    // The start is stored as an age, to within a round trip: the cancel comes well after it.
    await store.cancelTaskRuns([cancelled.id])
    await expect(cancelled.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
    const { timeline = [] } = (await store.getTaskRun(cancelled.id)) ?? {}
    const timeOf = (wanted: string) => timeline.find(({ what }) => what === wanted)?.at?.getTime()
    expect(timeOf('started')).toBeLessThan(timeOf('cancel-requested')!)
    open()
    expect(await neighbour.result({ timeout: '100s' })).toBe('talked')
    expect(await neighbour.status()).toMatchObject({ attempt: 1 })
  })
})

test('a terminated thread is replaced', async () => {
  const { q } = await execution<typeof tasks>('stubborn', { threads: 1 })
  const before = await (await q.enqueue('where', {})).result({ timeout: '100s' })
  await expect((await q.enqueue('timedOut', {})).result({ timeout: '100s' })).rejects.toMatchObject({
    code: 'TIMEOUT',
  })
  const after = await (await q.enqueue('where', {})).result({ timeout: '100s' })
  expect(after.pid).toBe(before.pid)
  expect(after.threadId).not.toBe(before.threadId)
})

test('a loop that sends heartbeats is stopped by its own heartbeat, and its thread stays', async () => {
  const { q } = await execution<typeof tasks>('stubborn', { threads: 1 })
  const before = await (await q.enqueue('where', {})).result({ timeout: '100s' })
  await expect((await q.enqueue('beats', {})).result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(await (await q.enqueue('where', {})).result({ timeout: '100s' })).toEqual(before)
})

test('code that notices its cancel has the grace to clean up', async () => {
  const replica = await execution<typeof tasks>('stubborn')
  const run = await startedRun(replica, 'cleansUp')
  await replica.store.cancelTaskRuns([run.id])
  await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
  expect(replica.events).toContainEqual(expect.objectContaining({ type: 'task-log', line: 'cleaned up' }))
})

test('inside a native call a run is `stopping` and keeps its key until the call returns, and only then is FAILED', async () => {
  const replica = await execution<typeof tasks>('stubborn', { env: { Q_STOP_GRACE_MS: '1' } })
  const { q, runner, store } = replica
  const { file: until, open } = gate()
  const run = await startedRun(replica, 'sleeps', { until, key: 'k' })
  const next = await q.enqueue('sleeps', { until, key: 'k' })
  const stats = await eventually(() => runner.threads().find(({ state }) => state === 'stopping'), 'stopping')
  expect(stats).toMatchObject({ runId: run.id, task: 'sleeps', isolation: 'thread', stoppingFor: 'timed out' })
  const beaten = await eventually(async () => {
    const threads = (await beatenThreads(replica.url)) as SlotStats[]
    return threads.find(({ state }) => state === 'stopping')
  }, 'stopping, in the heartbeat of its replica')
  expect(beaten).toMatchObject({ runId: run.id, stoppingFor: 'timed out' })
  // For as long as it is shown as stopping it runs and has its key; all looks together see that.
  const looks: string[] = []
  await eventually(async () => {
    const [mine, waiting] = await store.getTaskRuns([run.id, next.id])
    if (runner.threads().some(({ state }) => state === 'stopping')) looks.push(`${mine?.status} ${waiting?.status}`)
    if (looks.length === 3) open()
    return mine?.status === 'FAILED' ? mine : undefined
  }, 'its end')
  expect(new Set(looks)).toEqual(new Set(['RUNNING PENDING']))
  expect((await store.getTaskRun(run.id))!.run).toMatchObject({ status: 'FAILED', result: { code: 'TIMEOUT' } })
  expect(await next.result({ timeout: '100s' })).toBeNull()
})

test('the heartbeat of a replica shows what every thread is doing: task, CPU, heap, event loop, silence', async () => {
  const replica = await execution<typeof tasks>('stubborn')
  const run = await startedRun(replica, 'endless')
  const busy = await eventually(async () => {
    const threads = (await beatenThreads(replica.url)) as SlotStats[]
    return threads.find(({ cpuPercent, silentMs }) => (cpuPercent ?? 0) > 0 && (silentMs ?? 0) > 1_000)
  }, 'its stats')
  expect(busy).toMatchObject({ runId: run.id, task: 'endless', state: 'running', isolation: 'thread' })
  expect(busy.heapMb).toBeGreaterThan(0)
  expect(busy.eventLoopUse).toBeGreaterThan(0)
  const threads = (await beatenThreads(replica.url)) as SlotStats[]
  expect(threads.map(({ state }) => state)).toEqual(['running', 'idle'])
})

test('a run blocked in a native call ends SILENT without a maxSilent, and continues until its maxSilent with one', async () => {
  // No run is recovered here: slow heartbeats of a busy machine must not decide.
  const env = {
    Q_RUNNER_BEAT_MS: '500',
    Q_RUNNER_STALE_MS: '1500',
    Q_AUTO_FAIL_STALE_RUNNING: 'off',
    Q_STOP_GRACE_MS: '0',
  }
  const { q } = await execution<typeof tasks>('stubborn', { env })
  const silent = await q.enqueue('naps', { seconds: 3 })
  const allowed = await q.enqueue('napsSilently', { seconds: 3 })
  await expect(silent.result({ timeout: '100s' })).rejects.toMatchObject({
    code: 'SILENT',
    message: expect.stringContaining(`for ${noEvidenceMsMax({ runnerStaleMs: 1_500 })} ms`),
  })
  expect(await allowed.result({ timeout: '100s' })).toBe('rested')
})

test.runIf(process.platform === 'linux')(
  'a child is killed inside its native call, with all programs it started',
  async () => {
    const { q } = await execution<typeof tasks>('stubborn')
    const seconds = 600 + Math.random()
    const run = await q.enqueue('sleepsAlone', { seconds })
    await eventually(() => programs(`sleep ${seconds}`)[0], 'the native call')
    await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(programs(`sleep ${seconds}`)).toEqual([])
  },
)

test('signs of life of the code end its silence; a busy thread without heartbeats is alive by the CPU time it uses', async () => {
  const thresholds = { runnerBeatMs: 500, runnerStaleMs: 3_000 }
  const env = { Q_RUNNER_BEAT_MS: '500', Q_RUNNER_STALE_MS: '3000' }
  const { q } = await execution<typeof tasks>('stubborn', { env })
  const talks = await q.enqueue('talks', { ms: 1_500 })
  const derives = await q.enqueue('derives', { ms: 3_500 })
  expect(await talks.result({ timeout: '100s' })).toBe('talked')
  // It needs 3.5 s of a core to itself, which a busy machine may not have for long.
  expect(await derives.result({ timeout: '160s' })).toBeGreaterThan(noEvidenceMsMax(thresholds))
}, 180_000)
