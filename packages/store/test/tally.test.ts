/** Counts of replicas: each is added once, to the minute of the flush, and later to its hour. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { bucketEndMs, bucketOf, connect, countTime, createStore, otherTasks } from '@q/store'
import { cuttingProxy } from './cutting-proxy.ts'
import { counted, flush, tallyFixture } from './tally-fixture.ts'

const { db, store, another, url, enqueue, claim, tallies } = await tallyFixture()

async function totals() {
  const rows = await tallies()
  return Object.fromEntries(rows.map((row) => [row.task, row.started]))
}

test('a bucket ends at √2 times the end of the previous one, and every duration has a bucket', () => {
  expect([0, 0.4, 1, 1.01, 1.5, 2, 1_000, 1e12].map(bucketOf)).toEqual([0, 0, 0, 1, 2, 2, 20, 59])
  for (const ms of [3, 17, 250, 86_400_000]) {
    expect(bucketEndMs(bucketOf(ms))).toBeGreaterThanOrEqual(ms)
    expect(bucketEndMs(bucketOf(ms) - 1)).toBeLessThan(ms)
  }
  const counts: number[] = []
  countTime(counts, 3)
  countTime(counts, 3)
  expect(counts).toEqual([0, 0, 0, 0, 2])
})

test('the flushes of two replicas add up in the minute of the database, histograms element by element', async () => {
  await store.flushTally(
    flush(1, [counted('a', { started: 3, succeeded: 2, busyMs: 10.4, wait: [1, 2], duration: [5] })]),
  )
  await store.flushTally(flush(1, [counted('a', { started: 1, failed: 1, busyMs: 5, wait: [1, 0, 4] })], 'r2'))
  expect(await tallies()).toMatchObject([
    {
      width_s: 60,
      queue: 'default',
      task: 'a',
      started: 4,
      succeeded: 2,
      failed: 1,
      busy_ms: '15',
      wait_histogram: [2, 2, 4],
      duration_histogram: [5],
    },
  ])
  const { rows } = await sql<{ here: boolean }>`SELECT bucket_at = date_bin('1 minute', bucket_at, 'epoch')
    AND clock_timestamp() - bucket_at < '2 minutes' AS here FROM q.run_tally`.execute(db)
  expect(rows).toEqual([{ here: true }])
})

test('a flush that is repeated with its number adds nothing, even with other content', async () => {
  expect(await store.flushTally(flush(1, [counted('a', { started: 3 })]))).toMatchObject({ repeated: false })
  expect(await store.flushTally(flush(1, [counted('a', { started: 3 })]))).toMatchObject({ repeated: true })
  expect(await store.flushTally(flush(2, [counted('a', { started: 1 })]))).toMatchObject({ repeated: false })
  expect(await totals()).toEqual({ a: 4 })
})

test('a flush whose response is lost after its commit is counted once when it is repeated', async () => {
  const proxy = await cuttingProxy(url)
  const connection = connect(proxy.url, { purpose: 'pool' })
  onTestFinished(() => connection.close())
  const behind = createStore(connection.db)
  const error = {
    fingerprint: 'f',
    code: 'TASK_ERROR',
    name: 'Error',
    message: 'm',
    place: null,
    lastRunId: '1',
    tasks: ['a'],
    version: '1',
  }
  for (let flushNo = 1; flushNo <= 5; flushNo++) {
    const once = { ...flush(flushNo, [counted('a', { started: 1, wait: [1] })]), errors: [{ ...error, seen: 1 }] }
    proxy.cutAfter('q.tally_flush')
    await expect(behind.flushTally(once)).rejects.toThrow(/connection/i)
    expect(await behind.flushTally(once)).toMatchObject({ repeated: true })
  }
  expect(await tallies()).toMatchObject([{ started: 5, wait_histogram: [5] }])
  expect(await db.selectFrom('q.error_group').select('seen').execute()).toEqual([{ seen: '5' }])
})

test('many replicas that flush the same tasks at the same time lose no count and do not deadlock', async () => {
  const tasks = Array.from({ length: 20 }, (_, place) => `t${place}`)
  const replicas = Array.from({ length: 6 }, (_, place) => ({ id: `r${place}`, own: another() }))
  await Promise.all(
    replicas.map(async ({ id, own }, place) => {
      const runs = tasks.map((task) => counted(task, { started: 1 }))
      for (let flushNo = 1; flushNo <= 10; flushNo++) {
        await own.flushTally(flush(flushNo, place % 2 === 0 ? runs : runs.toReversed(), id))
      }
    }),
  )
  const sums = (await tallies()).reduce((sum, row) => sum + row.started, 0)
  expect(sums).toBe(6 * 10 * 20)
})

test('one flush names the 200 busiest tasks; the others are summed up per queue', async () => {
  const runs = Array.from({ length: 250 }, (_, place) => counted(`t${place}`, { started: place + 1, wait: [1] }))
  await store.flushTally(flush(1, runs))
  const rows = await tallies()
  expect(rows).toHaveLength(201)
  expect(rows.find((row) => row.task === otherTasks)).toMatchObject({ started: (50 * 51) / 2, wait_histogram: [50] })
  expect(rows.reduce((sum, row) => sum + row.started, 0)).toBe((250 * 251) / 2)
})

test('a sample has the length of each queue, counted up to a bound', async () => {
  await sql`TRUNCATE q.task_run CASCADE`.execute(db)
  await enqueue('sampled', { count: 3 })
  await enqueue('sampled', { delayMs: 60_000 })
  await claim('sampled', 1)
  await store.pauseQueue('default', 'ada')
  await sql`UPDATE q.task_run SET run_at = run_at - interval '5 s' WHERE ready`.execute(db)
  expect(await store.sampleQueues()).toBeGreaterThan(0)
  await store.resumeQueue('default')
  const [sample] = await db
    .selectFrom('q.queue_sample')
    .selectAll()
    .where('queue', '=', 'default')
    .orderBy('sampled_at', 'desc')
    .execute()
  expect(sample).toMatchObject({
    ready: 2,
    running: 1,
    waiting_time: 1,
    waiting_concurrency: 0,
    at_least: false,
    paused: true,
  })
  expect(Number(sample!.oldest_ms)).toBeGreaterThanOrEqual(5_000)
})

test('a claim returns the queue of each run and how long it waited', async () => {
  await enqueue('waited', { count: 2 })
  await sql`UPDATE q.task_run SET run_at = run_at - interval '2 s', created_at = created_at - interval '2 s' WHERE task = 'waited'`.execute(
    db,
  )
  const runs = await claim('waited', 2)
  expect(runs).toMatchObject([{ queue: 'default' }, { queue: 'default' }])
  for (const { waitMs } of runs) expect(waitMs).toBeGreaterThanOrEqual(2_000)
})

test('a run that was due before it was enqueued has waited since it was enqueued', async () => {
  await enqueue('overdue')
  await sql`UPDATE q.task_run SET run_at = run_at - interval '1 day' WHERE task = 'overdue'`.execute(db)
  const [run] = await claim('overdue', 1)
  expect(run!.waitMs).toBeLessThan(86_400_000)
})

test('a run that is 30 years late can be claimed', async () => {
  await enqueue('ancient')
  await sql`UPDATE q.task_run SET run_at = run_at - interval '30 years' WHERE task = 'ancient'`.execute(db)
  expect(await claim('ancient')).toHaveLength(1)
})

test('a recovery returns the next state of each run, and the code of its attempt', async () => {
  const [id] = await enqueue('lost')
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'dead' WHERE id = ${id}`.execute(db)
  const { ids } = await store.reap({ by: 'r1' })
  expect((await store.recoveredRuns(ids)).find(({ runId }) => runId === id)).toEqual({
    runId: id,
    task: 'lost',
    queue: 'default',
    was: 'RUNNING',
    became: 'FAILED',
    code: 'WORKER_CRASHED',
  })
})

test('a task that is named like the sum of the others is counted with them', async () => {
  const tasks = Array.from({ length: 250 }, (_, index) => counted(`t${index}`, { started: 1 }))
  await store.flushTally(flush(1, [counted(otherTasks, { started: 7 }), ...tasks]))
  const sums = await totals()
  expect(Object.values(sums).reduce((sum, started) => sum + started, 0)).toBe(257)
  expect(sums[otherTasks]).toBe(57)
})
