/** Every reason `why` can give; and once its cause is gone, the real claim takes the run. */
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { by, leaseOf } from './fixture.ts'
import { whyFixture } from './why-fixture.ts'

const { store, db, row, enqueue, claimOne, fleet, reasons, expectTaken, known } = await whyFixture()

function aged(id: RunId, column: 'expires_at' | 'run_at') {
  return db
    .updateTable('q.task_run')
    .set({ [column]: new Date(0) })
    .where('id', '=', id)
    .execute()
}

test('an unknown run has no explanation', async () => {
  expect(await store.whyNotRunning('999999' as RunId)).toBeUndefined()
})

test('ended: with its state and code, until a manual retry', async () => {
  const [id] = await enqueue(await known('ended'))
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' } as const
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('ended')), outcome, by }])
  expect(await reasons(id!)).toMatchObject([{ reason: 'ended', status: 'FAILED', code: 'TASK_ERROR' }])
  await store.retryTaskRun(id!)
  await expectTaken(id!)
})

test('held: the holder, since when, and whether it is alive', async () => {
  const [id] = await enqueue(await known('held'))
  await claimOne('held', 'worker')
  await store.cancelTaskRuns([id!])
  expect(await reasons(id!)).toMatchObject([
    { reason: 'held', status: 'RUNNING', replicaId: 'worker', name: 'worker', state: 'alive', cancelRequested: true },
  ])
  await fleet.silence('worker')
  expect(await reasons(id!)).toMatchObject([{ reason: 'held', state: 'stale' }])
  await fleet.disband()
  expect(await reasons(id!)).toMatchObject([{ reason: 'held', name: null, state: 'unknown' }])
})

test('prefetched and past its deadline: both reasons are given', async () => {
  const [id] = await enqueue(await known('late-claim'), { expiresInMs: 60_000 })
  const request = { replicaId: 'worker', tasks: ['late-claim'], queues: [], limit: 1, prefetch: true }
  const [claimed] = await store.claimAvailableTaskRuns(request)
  await aged(id!, 'expires_at')
  expect(await reasons(id!)).toMatchObject([{ reason: 'held', status: 'CLAIMED' }, { reason: 'expired' }])
  expect(await store.startTaskRuns([leaseOf(claimed!)])).toEqual([])
})

test('expired but not swept', async () => {
  const [id] = await enqueue(await known('expired'), { expiresInMs: 60_000 })
  await aged(id!, 'expires_at')
  expect(await reasons(id!)).toMatchObject([{ reason: 'expired' }])
  expect(await fleet.claimAs('worker')).toEqual([])
  await db.updateTable('q.task_run').set({ expires_at: null }).where('id', '=', id!).execute()
  await expectTaken(id!)
})

test('time: until when; once it has come, that a promotion is due', async () => {
  const [id] = await enqueue(await known('timed'), { delayMs: 60_000 })
  const [waits] = await reasons(id!)
  expect(waits).toMatchObject({ reason: 'time', due: false })
  expect((waits as { inMs: number }).inMs).toBeGreaterThan(50_000)
  await aged(id!, 'run_at')
  expect(await reasons(id!)).toMatchObject([{ reason: 'time', due: true }])
  expect((await store.promoteDueTaskRuns(10)).ids).toEqual([id])
  await expectTaken(id!)
})

test('workflow: it is paused, and the actor', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'held-back' })
  const step = { kind: 'task', name: 'a', task: 'held-back', payload: { value: {}, holes: {} } } as const
  const { id, steps } = await store.startWorkflow({
    plan: { name: 'nightly', steps: [step] },
    input: null,
    tasks: { 'held-back': { lane } },
  })
  await store.pauseWorkflow(id, 'ada')
  expect((await reasons(steps[0]!.runId))[0]).toEqual({
    reason: 'workflow-paused',
    workflowId: id,
    name: 'nightly',
    by: 'ada',
  })
})

test('parents: how many are open', async () => {
  const [id] = await enqueue(await known('child'), { delayMs: 1 })
  const gate = db.updateTable('q.task_run').where('id', '=', id!)
  await gate.set({ waiting_for: 'parents', waiting_on: 2 }).execute()
  expect(await reasons(id!)).toMatchObject([{ reason: 'parents', open: 2 }])
  await gate.set({ waiting_for: null, waiting_on: 0, status: 'AVAILABLE' }).execute()
  await expectTaken(id!)
})

test('concurrency: the key, its limit, its holders and the runs ahead', async () => {
  const concurrency = { scope: 'keyed', key: 'a' }
  const [holder, second, third] = await enqueue(await known('keyed'), { count: 3, concurrency })
  const lease = leaseOf(await claimOne('keyed', 'worker'))
  const key = { reason: 'concurrency', scope: 'keyed', key: 'a', limit: 1, free: 0 }
  const holders = [{ runId: holder, status: 'RUNNING', replicaId: 'worker' }]
  expect(await reasons(second!)).toMatchObject([{ ...key, holders, ahead: 0 }])
  expect(await reasons(third!)).toMatchObject([{ ...key, holders, ahead: 1 }])
  await store.setConcurrencyLimit('keyed', 2)
  expect((await store.whyNotRunning(second!))!.sentence).toContain('has a free slot')
  await store.settleTaskRuns([{ lease, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  await expectTaken(second!)
})

test('queue-paused: the actor; after a resume the run is taken', async () => {
  await fleet.publish('worker', 'pausable')
  const id = await fleet.enqueueIn({ queue: 'why-paused', task: 'pausable' })
  await store.pauseQueue('why-paused', 'ada')
  expect(await reasons(id)).toMatchObject([{ reason: 'queue-paused', queue: 'why-paused', by: 'ada' }])
  expect(await fleet.claimAs('worker')).toEqual([])
  await store.resumeQueue('why-paused')
  await expectTaken(id)
})

test('lane-missing: a manually inserted row that no claim can find', async () => {
  const [id] = await enqueue(await known('manual'))
  const { lane } = await row(id!)
  await db.updateTable('q.task_run').set({ lane: -1 }).where('id', '=', id!).execute()
  expect(await reasons(id!)).toMatchObject([{ reason: 'lane-missing' }])
  expect(await fleet.claimAs('worker')).toEqual([])
  await db.updateTable('q.task_run').set({ lane }).where('id', '=', id!).execute()
  await expectTaken(id!)
})

test('ready: the number of runs ahead in its lane, and of free slots', async () => {
  const [first, second] = await enqueue(await known('ready'), { count: 2 })
  const [urgent] = await enqueue('ready', { priority: -1 })
  const [other] = await enqueue('ready', { group: 'other' })
  const ready = { reason: 'ready', freeSlots: 2, nodes: ['worker'] }
  expect(await reasons(urgent!)).toEqual([{ ...ready, ahead: 0 }])
  expect(await reasons(first!)).toEqual([{ ...ready, ahead: 1 }])
  expect(await reasons(second!)).toEqual([{ ...ready, ahead: 2 }])
  expect(await reasons(other!)).toEqual([{ ...ready, ahead: 1 }])
})

test('all reasons are given at once, in the order in which they apply', async () => {
  await fleet.disband()
  const lane = await store.internLane({ queue: 'worst', task: 'worst', requires: ['gpu'] })
  const [run] = await store.enqueueTaskRuns([
    { task: 'worst', lane, payload: {}, delayMs: 60_000, expiresInMs: 60_000 },
  ])
  await aged(run!.id, 'expires_at')
  await store.pauseQueue('worst', 'ada')
  const said = async () => (await reasons(run!.id)).map(({ reason }) => reason)
  expect(await said()).toEqual(['expired', 'time', 'queue-paused', 'no-replica', 'task-unpublished'])
  await fleet.join('elsewhere', { queues: ['other'] })
  expect(await said()).toEqual(['expired', 'time', 'queue-paused', 'task-unpublished'])
  await fleet.publish('elsewhere', 'worst')
  expect(await said()).toEqual(['expired', 'time', 'queue-paused', 'queue-unserved', 'capabilities-missing'])
})

test('why takes no lock and changes nothing, even in a transaction of the caller', async () => {
  const [id] = await enqueue(await known('untouched'))
  const before = await row(id!)
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('q.task_run').set({ priority: 1 }).where('id', '=', id!).execute()
    const why = await store.whyNotRunning(id!)
    expect(why?.reasons).toMatchObject([{ reason: 'ready' }])
    await trx.updateTable('q.task_run').set({ priority: 0 }).where('id', '=', id!).execute()
  })
  expect(await row(id!)).toEqual(before)
})
