import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { QueueView } from '@q/store'
import { fixture } from '../fixture.ts'
import { fleetOf } from '../fleet.ts'

const its = await fixture()
const { store, db } = its
const fleet = fleetOf(its)

beforeEach(() => fleet.disband())

async function viewOf(queue: string): Promise<QueueView | undefined> {
  return (await store.listQueues()).find((found) => found.queue === queue)
}

const exactly = (count: number) => ({ count, atLeast: false })

test('a queue counts its runs by state, and and waiting ones by their gate', async () => {
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
  await store.claimAvailableTaskRuns({ ...request, prefetch: true })
  await store.cancelTaskRuns([enqueued[4]!.id])
  const workflow = await db.insertInto('q.workflow').values({ name: 'w' }).returning('id').executeTakeFirstOrThrow()
  const child = db.updateTable('q.task_run').set({ waiting_for: 'parents', waiting_on: 1, workflow_id: workflow.id })
  await child.where('id', '=', enqueued[9]!.id).execute()
  expect(await viewOf('work')).toMatchObject({
    ready: exactly(4),
    claimed: 1,
    running: 1,
    waiting: { time: exactly(1), concurrency: exactly(1), parents: exactly(1), task: exactly(0) },
    paused: false,
    pausedBy: null,
    pauseReason: null,
    rates: null,
  })
})

test('a backlog beyond the bound is counted up to it, and every queue marks the count as a lower bound', async () => {
  const lane = await store.internLane({ queue: 'flooded', task: 'flooded' })
  const many = (columns: ReturnType<typeof sql>, values: ReturnType<typeof sql>) =>
    sql`INSERT INTO q.task_run (lane, task, ${columns}) SELECT ${lane}, 'flooded', ${values}
      FROM generate_series(1, 10003)`.execute(db)
  await many(sql`priority`, sql`1`)
  await many(sql`status, waiting_for, run_at`, sql`'PENDING', 'time', now() + interval '1 day'`)
  const flooded = await viewOf('flooded')
  expect(flooded!.ready).toEqual({ count: 10_000, atLeast: true })
  expect(flooded!.waiting.time.atLeast).toBe(true)
  await store.internLane({ queue: 'beside', task: 'beside' })
  expect((await viewOf('beside'))!.waiting.time.atLeast).toBe(true)
  expect((await viewOf('beside'))!.ready).toEqual(exactly(0))
  await sql`DELETE FROM q.task_run WHERE task = 'flooded'`.execute(db)
})

test('the age of the oldest run that could be claimed is exact, in whichever group and priority it is', async () => {
  const lane = await store.internLane({ queue: 'old', task: 'old' })
  const run = { task: 'old', lane, payload: {} }
  const [, , old] = await store.enqueueTaskRuns([
    run,
    { ...run, priority: -5 },
    { ...run, priority: 7, group: 'tenant' },
    { ...run, priority: 9 },
  ])
  await sql`UPDATE q.task_run SET run_at = clock_timestamp() - interval '1 hour' WHERE id = ${old!.id}`.execute(db)
  expect((await viewOf('old'))!.oldestReadyMs).toBeGreaterThanOrEqual(3_600_000)
  await db.deleteFrom('q.task_run').where('task', '=', 'old').execute()
  expect(await viewOf('old')).toMatchObject({ ready: exactly(0), oldestReadyMs: null })
})

test('a paused queue shows the actor and the reason, even if it never had a run', async () => {
  await store.internLane({ queue: 'stopped', task: 'a' })
  for (const queue of ['stopped', 'unused']) await store.pauseQueue(queue, 'ada', 'bad deploy')
  for (const queue of ['stopped', 'unused'])
    expect(await viewOf(queue)).toMatchObject({
      ready: exactly(0),
      paused: true,
      pausedBy: 'ada',
      pauseReason: 'bad deploy',
    })
  await store.resumeQueue('stopped')
  expect(await viewOf('stopped')).toMatchObject({ paused: false, pausedAt: null, pauseReason: null })
})

test('a task with a ready run is unserved until a live node that claims knows it', async () => {
  await fleet.enqueueIn({ queue: 'lonely', task: 'lonely' })
  expect((await viewOf('lonely'))!.unserved).toEqual(['lonely'])
  await fleet.join('able', { tasks: ['lonely'] })
  expect((await viewOf('lonely'))!.unserved).toEqual([])
  await store.drainReplica('able', { by: 'ada' })
  expect((await viewOf('lonely'))!.unserved).toEqual(['lonely'])
})

test('rates and percentiles are those of the last five complete minutes', async () => {
  await store.internLane({ queue: 'rated', task: 'rated' })
  const histogram = (...counts: [element: number, runs: number][]) =>
    Array.from({ length: 30 }, (_, element) => counts.find(([at]) => at === element)?.[1] ?? 0)
  const tally = (minutesAgo: number, succeeded: number) =>
    sql`
    INSERT INTO q.run_tally (bucket_at, width_s, started, succeeded, failed, wait_histogram, duration_histogram, queue, task)
    SELECT date_trunc('minute', clock_timestamp()) - ${minutesAgo}::int * interval '1 minute', 60, 300, ${succeeded}, 30,
      ${histogram([4, 90], [20, 10])}::int[], ${histogram([10, 100])}::int[], 'rated', 'rated'`.execute(db)
  for (const minutesAgo of [-1, 2, 4, 7]) await tally(minutesAgo, 600)
  expect((await viewOf('rated'))!.rates).toEqual({
    startedPerS: 2,
    succeededPerS: 4,
    failedPerS: 0.2,
    retriedPerS: 0,
    waitP50Ms: 3.4,
    waitP95Ms: 861,
    durationP50Ms: 26.9,
    durationP95Ms: 26.9,
    growthPerS: null,
  })
})

test('growth is the change between the first and the last sample of ten minutes; counts at their bound are left out', async () => {
  await store.internLane({ queue: 'growing', task: 'growing' })
  const sample = (secondsAgo: number, ready: number, atLeast = false) =>
    sql`
    INSERT INTO q.queue_sample (sampled_at, ready, claimed, running, waiting_time, waiting_concurrency, at_least, queue)
    SELECT clock_timestamp() - ${secondsAgo}::int * interval '1 s', ${ready}, 0, 0, 99, 0, ${atLeast}, 'growing'`.execute(
      db,
    )
  await sample(900, 50_000)
  await sample(300, 100)
  await sample(200, 10_000, true)
  expect((await viewOf('growing'))!.rates).toBeNull()
  await sample(100, 500)
  expect((await viewOf('growing'))!.rates!.growthPerS).toBeCloseTo(2, 1)
})

test('a queue in detail has its tasks with the nodes that serve them, its groups by age, and its keys', async () => {
  const lane = await store.internLane({ queue: 'detailed', task: 'd' })
  const run = { task: 'd', lane, payload: {} }
  const concurrency = { scope: 'd', key: 'k' }
  await fleet.join('one', { tasks: ['d'] })
  await fleet.join('two', { tasks: ['d'], queues: ['elsewhere'] })
  await store.setGroupWeight({ queue: 'detailed', group: 'weighted' }, 5)
  await store.enqueueTaskRuns([
    run,
    { ...run, group: 'tenant' },
    { ...run, group: 'tenant' },
    { ...run, concurrency },
    { ...run, concurrency },
  ])
  const [holder] = await store.claimAvailableTaskRuns({ replicaId: 'one', tasks: ['d'], queues: [], limit: 1 })
  const detail = await store.getQueue('detailed')
  expect(detail).toMatchObject({
    queue: 'detailed',
    tasks: [{ task: 'd', nodes: 1 }],
    keys: [{ scope: 'd', key: 'k', limit: 1, waiting: exactly(1) }],
  })
  expect(holder).toBeDefined()
  expect(detail!.groups).toEqual(
    expect.arrayContaining([
      { group: 'tenant', weight: 1, ready: exactly(2) },
      { group: 'weighted', weight: 5, ready: exactly(0) },
    ]),
  )
  expect(await store.getQueue('no such queue')).toBeUndefined()
})
