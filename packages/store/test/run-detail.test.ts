import { expect, test } from 'vitest'
import type { Outcome, RunDetail, RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'
import { introduction } from './replica-registration.ts'

const { store, db, enqueue, claimOne } = await fixture()
const ok: Outcome = { status: 'SUCCEEDED', result: '{"sum":3}' }
const bad: Outcome = {
  status: 'FAILED',
  code: 'TASK_ERROR',
  detail: 'Error: no',
  retry: { delayMs: 60_000, delayMsMax: 60_000 },
}

async function detail(id: RunId): Promise<RunDetail> {
  return (await store.getTaskRun(id))!
}

function what({ timeline }: RunDetail): string[] {
  return timeline.map((happening) => happening.what)
}

async function comeTrue(): Promise<void> {
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('due_at', 'is not', null)
    .execute()
  await store.promoteDueTaskRuns(10)
}

test('a run that does not exist has no detail', async () => {
  expect(await store.getTaskRun('999999' as RunId)).toBeUndefined()
})

test('the detail of a waiting run has its queue, requirements, keys, counts and times', async () => {
  const lane = await store.internLane({ queue: 'detailed', task: 'detailed', requires: ['gpu'] })
  const [run] = await store.enqueueTaskRuns([
    {
      task: 'detailed',
      lane,
      payload: { a: 1 },
      priority: 3,
      group: 'tenant',
      uniqueKey: 'only',
      maxAttempts: 4,
      concurrency: { scope: 'detailed', key: 'k' },
      expiresInMs: 60_000,
    },
  ])
  const { run: found, attempts, recoveries, beats, timeline } = await detail(run!.id)
  expect(found).toMatchObject({
    id: run!.id,
    task: 'detailed',
    queue: 'detailed',
    requires: ['gpu'],
    group: 'tenant',
    priority: 3,
    status: 'AVAILABLE',
    payload: { a: 1 },
    result: null,
    attempt: 0,
    maxAttempts: 4,
    crashCount: 0,
    epoch: 1,
    fence: 0,
    uniqueKey: 'only',
    concurrency: { scope: 'detailed', key: 'k', slot: 1 },
    replicaId: null,
    finishedAt: null,
  })
  expect(found.expiresAt).toBeInstanceOf(Date)
  expect({ attempts, recoveries, beats }).toEqual({ attempts: [], recoveries: [], beats: [] })
  expect(timeline).toEqual([{ at: found.createdAt, by: null, what: 'enqueued' }])
})

test('the detail of a running attempt has its holder and its last heartbeat', async () => {
  await store.registerReplica(introduction('under-way', 'anna'))
  const [id] = await enqueue('under-way')
  const lease = leaseOf(await claimOne('under-way', 'under-way'))
  const beat = { lease, thread: 1, ageMs: 5_000, progress: 0.5, note: 'half' }
  await store.beatTaskRuns({ replicaId: 'under-way', hostname: 'h', pid: 7 }, [beat])
  await store.cancelTaskRuns([id!])
  const found = await detail(id!)
  expect(found.attempts).toMatchObject([
    { epoch: 1, attempt: 1, outcome: 'running', endedAt: null, replicaId: 'under-way', replicaName: 'anna', pid: 1 },
  ])
  expect(found.beats).toMatchObject([{ role: 'runner', progress: 0.5, note: 'half' }])
  expect(found.beats[0]!.ageMs).toBeGreaterThanOrEqual(5_000)
  expect(what(found)).toEqual(['enqueued', 'started', 'beat', 'cancel-requested'])
  expect(found.timeline[1]).toMatchObject({ by: 'anna', attempt: 1, fence: 1 })
})

test('the timeline is complete after a retry, a release, a success and a manual retry', async () => {
  const [id] = await enqueue('eventful', { maxAttempts: 3 })
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('eventful', 'r1')), outcome: bad, by }])
  await comeTrue()
  await store.releaseTaskRuns([leaseOf(await claimOne('eventful', 'r2'))])
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('eventful', 'r3')), outcome: ok, by }])
  const firstEpoch = ['enqueued', 'started', 'retried', 'started', 'released', 'started', 'succeeded']
  const done = await detail(id!)
  expect(done.run).toMatchObject({ status: 'SUCCEEDED', result: { sum: 3 } })
  expect(done.attempts.map(({ outcome, attempt, replicaId }) => [outcome, attempt, replicaId])).toEqual([
    ['retried', 1, 'r1'],
    ['released', 2, 'r2'],
    ['succeeded', 2, 'r3'],
  ])
  expect(what(done)).toEqual(firstEpoch)
  expect(done.timeline.map((happening) => happening.by)).toEqual([null, 'r1', 'r1', 'r2', 'r2', 'r3', 'r3'])
  expect(done.timeline[2]).toMatchObject({ code: 'TASK_ERROR', detail: 'Error: no' })

  await store.retryTaskRun(id!)
  expect(what(await detail(id!))).toEqual([...firstEpoch, 'retried-manually'])
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('eventful', 'r4')), outcome: ok, by }])
  const again = await detail(id!)
  expect(what(again)).toEqual([...firstEpoch, 'retried-manually', 'started', 'succeeded'])
  expect(again.timeline.every((happening) => happening.at instanceof Date)).toBe(true)
  const times = again.timeline.map((happening) => happening.at!.getTime())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(again.attempts).toHaveLength(4)
})

test('a manual retry keeps its place in the timeline when its time is no longer known', async () => {
  const [id] = await enqueue('rescheduled', { maxAttempts: 3 })
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('rescheduled')), outcome: ok, by }])
  await store.retryTaskRun(id!)
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('rescheduled')), outcome: bad, by }])
  const found = await detail(id!)
  expect(what(found)).toEqual(['enqueued', 'started', 'succeeded', 'retried-manually', 'started', 'retried'])
  expect(found.timeline[3]).toEqual({ at: null, by: null, what: 'retried-manually', epoch: 2 })
})

test('the timeline has each manual retry, even of epochs that ended before they started', async () => {
  const [id] = await enqueue('stubborn')
  await store.cancelTaskRuns([id!])
  await store.retryTaskRun(id!)
  await store.cancelTaskRuns([id!])
  await store.retryTaskRun(id!)
  await claimOne('stubborn')
  const found = await detail(id!)
  expect(what(found)).toEqual(['enqueued', 'retried-manually', 'retried-manually', 'started'])
  expect(found.timeline.flatMap((one) => (one.what === 'retried-manually' ? one.epoch : []))).toEqual([2, 3])
})

test('the timeline of a run that never started has its end', async () => {
  const [id] = await enqueue('cancelled')
  await store.cancelTaskRuns([id!], 'by Ada')
  const found = await detail(id!)
  expect(found.attempts).toEqual([])
  expect(found.timeline.at(-1)).toMatchObject({ what: 'ended', status: 'CANCELLED', code: 'TASK_CANCELLED' })
})

test('a claim shows until it becomes a start', async () => {
  const [id] = await enqueue('ahead')
  const request = { replicaId: 'ahead', tasks: ['ahead'], queues: [], limit: 1, prefetch: true }
  const [claimed] = await store.claimAvailableTaskRuns(request)
  const found = await detail(id!)
  expect(found.attempts).toEqual([])
  expect(found.timeline.at(-1)).toMatchObject({ what: 'claimed', by: 'ahead', fence: 1 })
  await store.startTaskRuns([leaseOf(claimed!)])
  expect(what(await detail(id!))).toEqual(['enqueued', 'started'])
})

test('a recovery is listed with its cause, the old holder and the next state', async () => {
  const [id] = await enqueue('abandoned', { onCrash: 'retry' })
  await claimOne('abandoned', 'absent')
  expect((await store.reap({ by: 'reaper' })).ids).toContain(id)
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('abandoned', 'r2')), outcome: ok, by }])
  const found = await detail(id!)
  expect(found.recoveries).toMatchObject([{ cause: 'never-alive', replicaId: 'absent', recoveredBy: 'reaper' }])
  expect(what(found)).toEqual(['enqueued', 'started', 'crashed', 'recovered', 'started', 'succeeded'])
  expect(found.timeline[3]).toMatchObject({ by: 'reaper', cause: 'never-alive', from: 'absent', became: 'AVAILABLE' })
})

test('a run is read as one snapshot, even while it is claimed and settled', async () => {
  const [id] = await enqueue('busy')
  const watch = { on: true }
  const work = (async () => {
    while (watch.on) {
      await store.settleTaskRuns([{ lease: leaseOf(await claimOne('busy')), outcome: ok, by }])
      await store.retryTaskRun(id!)
    }
  })()
  for (let look = 0; look < 60; look++) {
    const { run, attempts } = await detail(id!)
    const current = attempts.filter(({ fence }) => fence === run.fence).map(({ outcome }) => outcome)
    const expected = { AVAILABLE: [], RUNNING: ['running'], SUCCEEDED: ['succeeded'] } as Record<string, string[]>
    expect(current).toEqual(expected[run.status])
    expect(new Set(attempts.map(({ fence }) => fence)).size).toBe(attempts.length)
  }
  watch.on = false
  await work
})
