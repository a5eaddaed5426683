import { expect, test } from 'vitest'
import type { QueueBacklog } from '@q/store'
import { fixture } from './fixture.ts'

const { store, db } = await fixture()

async function backlogOf(queue: string): Promise<QueueBacklog | undefined> {
  return (await store.queueBacklog()).find((found) => found.queue === queue)
}

test('the backlog counts what is live, per queue and state, and what a gate holds back by its gate', async () => {
  const lanes = [
    await store.internLane({ queue: 'work', task: 'a' }),
    await store.internLane({ queue: 'work', task: 'b', requires: ['gpu'] }),
  ] as const
  const run = { task: 'a', lane: lanes[0], payload: {} }
  const concurrency = { scope: 'work', key: 'k' }
  const enqueued = await store.enqueueTaskRuns([
    ...Array.from({ length: 5 }, () => run),
    { ...run, task: 'b', lane: lanes[1] },
    { ...run, delayMs: 60_000 },
    { ...run, concurrency, priority: 9 },
    { ...run, concurrency, priority: 9 },
    { ...run, delayMs: 1 },
  ])
  const request = { replicaId: 'r', tasks: ['a'], queues: [], limit: 1 }
  await store.claimAvailableTaskRuns(request)
  await store.claimAvailableTaskRuns({ ...request, ahead: true })
  await store.cancelTaskRuns([enqueued[4]!.id])
  const child = db.updateTable('q.task_run').set({ waiting_for: 'parents', waiting_on: 1, workflow_id: 1 })
  await child.where('id', '=', enqueued[9]!.id).execute()
  expect(await backlogOf('work')).toMatchObject({
    available: 4,
    claimed: 1,
    running: 1,
    waiting: { time: 1, concurrency: 1, parents: 1 },
    paused: false,
    pausedBy: null,
  })
})

test('the age of the oldest run that could be claimed is told, and of an empty queue none', async () => {
  const lane = await store.internLane({ queue: 'old', task: 'old' })
  const [run] = await store.enqueueTaskRuns([{ task: 'old', lane, payload: {} }])
  const anHourAgo = new Date(Date.now() - 3_600_000)
  await db.updateTable('q.task_run').set({ run_at: anHourAgo }).where('id', '=', run!.id).execute()
  expect((await backlogOf('old'))!.oldestAvailableMs).toBeGreaterThan(3_500_000)
  await store.cancelTaskRuns([run!.id])
  expect(await backlogOf('old')).toMatchObject({ available: 0, oldestAvailableMs: null })
})

test('a paused queue says so, also one that never had a run', async () => {
  await store.internLane({ queue: 'stopped', task: 'a' })
  for (const queue of ['stopped', 'unused']) await store.pauseQueue(queue, 'ada')
  for (const queue of ['stopped', 'unused'])
    expect(await backlogOf(queue)).toMatchObject({ available: 0, paused: true, pausedBy: 'ada' })
  await store.resumeQueue('stopped')
  expect(await backlogOf('stopped')).toMatchObject({ paused: false, pausedAt: null })
})
