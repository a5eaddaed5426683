import { beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { RunFilter, RunId, RunViewName } from '@q/store'
import { by, fixture, leaseOf } from '../fixture.ts'
import { introduction } from '../replica-registration.ts'

const { store, db, enqueue, claim, claimOne } = await fixture()

beforeEach(async () => {
  for (const table of ['task_run', 'task_attempt', 'recovery', 'schedule_tick', 'replica_heartbeat', 'replica'])
    await sql`DELETE FROM ${sql.table(`q.${table}`)}`.execute(db)
})

/** Every page of two, so that the cursor of each view is used. */
async function viewed(view: RunViewName, filter: RunFilter = {}): Promise<RunId[]> {
  const seen: RunId[] = []
  let cursor: string | undefined
  do {
    const page = await store.listTaskRuns(filter, { view, limit: 2, ...(cursor !== undefined && { cursor }) })
    seen.push(...page.runs.map((run) => run.id))
    cursor = page.next
  } while (cursor !== undefined && seen.length < 100)
  return seen
}

async function fail(task: string, agoS: number, fingerprint: string | null = null): Promise<RunId> {
  const [id] = await enqueue(task)
  const claimed = await claimOne(task)
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' } as const
  await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome, by }])
  await sql`UPDATE q.task_attempt SET ended_at = clock_timestamp() - ${agoS}::int * interval '1 s', fingerprint = ${fingerprint}
    WHERE run_id = ${id}`.execute(db)
  return id!
}

async function aged(id: RunId, column: 'started_at' | 'run_at' | 'cancel_requested_at', agoS: number): Promise<void> {
  await sql`UPDATE q.task_run SET ${sql.ref(column)} = clock_timestamp() - ${agoS}::int * interval '1 s' WHERE id = ${id}`.execute(
    db,
  )
}

test('running: running runs, longest first, without claimed ones', async () => {
  const ids = await enqueue('a', { count: 4 })
  await claim('a', 4)
  for (const [index, agoS] of [10, 40, 20, 30].entries()) await aged(ids[index]!, 'started_at', agoS)
  await enqueue('b')
  await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['b'], queues: [], limit: 1, prefetch: true })
  expect(await viewed('running')).toEqual([ids[1], ids[3], ids[2], ids[0]])
  expect(await viewed('running', { task: 'other' })).toEqual([])
})

test('failed: by their last failure, newest first, without runs that were retried since', async () => {
  const [oldest, newest, middle] = [await fail('a', 300), await fail('a', 1), await fail('b', 100)]
  const retried = await fail('a', 5)
  await store.retryTaskRun(retried)
  expect(await viewed('failed')).toEqual([newest, middle, oldest])
  expect(await viewed('failed', { task: 'b' })).toEqual([middle])
})

test('waiting: the runs that wait longest first, whichever lane, priority or group they are in, and those without their key or their task', async () => {
  const runs: [RunId, number][] = []
  for (const [task, group, priority, agoS] of [
    ['a', '', 0, 50],
    ['a', 't1', 9, 300],
    ['a', 't1', 9, 20],
    ['a', 't2', -3, 200],
    ['b', '', 0, 250],
  ] as const) {
    const [id] = await enqueue(task, { group, priority })
    runs.push([id!, agoS])
  }
  const keyed = await enqueue('c', { count: 2, concurrency: { scope: 'c', key: 'k' } })
  const [unpublished] = await store.enqueueTaskRuns([{ task: 'not-published', payload: {} }])
  runs.push([keyed[0]!, 5], [keyed[1]!, 220], [unpublished!.id, 230])
  for (const [id, agoS] of runs) await aged(id, 'run_at', agoS)
  await enqueue('later', { delayMs: 60_000 })
  const longestFirst = runs.toSorted(([, a], [, b]) => b - a).map(([id]) => id)
  expect(await viewed('waiting')).toEqual(longestFirst)
  expect(await viewed('waiting', { group: 't1' })).toEqual([runs[1]![0], runs[2]![0]])
  expect(await viewed('waiting', { payload: 'x=1' })).toEqual([])
  expect((await store.listTaskRuns({}, { view: 'waiting', limit: 1 })).exhausted).toBe(false)
})

test('review: runs whose last recovery as FAILED no person has reviewed, each once', async () => {
  const [first, second, done] = await enqueue('a', { count: 3 })
  const recovered = (run: RunId, fence: number, reviewed: boolean, became = 'FAILED') =>
    sql`
    INSERT INTO q.recovery (run_id, fence, was, became, cause, replica_id, recovered_by, reviewed_at)
    VALUES (${run}, ${fence}, 'RUNNING', ${became}::q.task_status, 'presence', 'n', 'm', CASE WHEN ${reviewed} THEN now() END)`.execute(
      db,
    )
  await recovered(first!, 1, false)
  await recovered(second!, 1, false)
  await recovered(first!, 2, false)
  await recovered(done!, 1, true)
  await recovered(done!, 2, false, 'AVAILABLE')
  expect(await viewed('review')).toEqual([first, second])
  const { runs } = await store.listTaskRuns({ task: 'a' })
  expect(runs.map(({ id, reviewed }) => [id, reviewed])).toEqual([
    [done, true],
    [second, false],
    [first, false],
  ])
})

test('stopping: runs whose cancel is in progress, and those that their replica reports as stopping', async () => {
  await store.registerReplica(introduction('n1'))
  const ids = await enqueue('a', { count: 3 })
  await claim('a', 3, 'n1')
  await store.cancelTaskRuns([ids[0]!])
  await aged(ids[0]!, 'cancel_requested_at', 10)
  await aged(ids[1]!, 'started_at', 60)
  const threads = JSON.stringify([{ slot: 0, state: 'stopping', runId: ids[1], stoppingFor: 'timeout' }])
  await sql`UPDATE q.replica_heartbeat SET threads = ${threads}::jsonb`.execute(db)
  expect(await viewed('stopping')).toEqual([ids[1], ids[0]])
})

test('runs are found by code, payload, fingerprint and schedule, in the newest view too', async () => {
  const [alike, other, older] = [await fail('a', 5, 'f1'), await fail('a', 3, 'f2'), await fail('b', 60, 'f1')]
  const [payload] = await enqueue('c', { payload: { url: 'https://CDN.example/x', order: { id: 5 }, id: '7' } })
  const [ticked] = await enqueue('d')
  await sql`INSERT INTO q.schedule_tick VALUES ('nightly', now(), ${ticked})`.execute(db)
  const found = (filter: RunFilter) => viewed('newest', filter)
  expect(await found({ code: 'TASK_ERROR' })).toEqual([older, other, alike])
  expect(await found({ fingerprint: 'f1' })).toEqual([alike, older])
  expect(await found({ fingerprint: 'f1', task: 'b' })).toEqual([older])
  expect(await found({ schedule: 'nightly' })).toEqual([ticked])
  for (const condition of ['url~cdn.', 'order.id=5', 'id=7', '~example'])
    expect(await found({ payload: condition })).toEqual([payload])
  for (const condition of ['url=cdn', 'order.id=50', 'missing~x'])
    expect(await found({ payload: condition })).toEqual([])
  await expect(store.listTaskRuns({ payload: 'url' })).rejects.toMatchObject({ code: 'FILTER_INVALID' })
})

test('a list reports how many runs it read and how far back, and continues where it stopped', async () => {
  const ids = await enqueue('many', { count: 30 })
  const rare = ids[2]!
  await sql`UPDATE q.task_run SET grp = 'rare' WHERE id = ${rare}`.execute(db)
  const first = await store.listTaskRuns({ group: 'rare' }, { look: 20 })
  expect(first).toMatchObject({ runs: [], looked: 20, exhausted: false, next: ids[10] })
  expect(first.lookedBackTo).toBeInstanceOf(Date)
  const second = await store.listTaskRuns({ group: 'rare' }, { look: 20, cursor: first.next! })
  expect(second).toMatchObject({ runs: [{ id: rare }], looked: 10, exhausted: true, next: undefined })
  const full = await store.listTaskRuns({}, { limit: 5 })
  expect(full).toMatchObject({ looked: 5, exhausted: false, next: ids[25] })
})

test('a count stops at its bound or read limit, and reports that', async () => {
  await enqueue('counted', { count: 12 })
  await enqueue('others', { count: 8 })
  expect(await store.countTaskRuns({ task: 'counted' })).toMatchObject({ count: 12, atLeast: false, exhausted: true })
  expect(await store.countTaskRuns({ task: 'counted' }, { max: 5 })).toMatchObject({ count: 5, atLeast: true })
  expect(await store.countTaskRuns({ task: 'counted' }, { max: 12 })).toMatchObject({ count: 12, atLeast: false })
  expect(await store.countTaskRuns({ task: 'counted' }, { look: 10 })).toMatchObject({
    count: 2,
    atLeast: true,
    exhausted: false,
  })
  expect(await store.countTaskRuns({}, { view: 'waiting' })).toMatchObject({ count: 20, atLeast: false })
})

test('held and ready runs are found however many newer runs there are', async () => {
  const [held, ready] = await enqueue('old', { count: 2 })
  await claimOne('old', 'r')
  await enqueue('newer', { count: 50, delayMs: 60_000 })
  const listed = async (status: string) => (await store.listTaskRuns({ status: [status] }, { look: 10 })).runs
  expect(await listed('running')).toMatchObject([{ id: held }])
  expect(await listed('queued')).toMatchObject([{ id: ready }])
})

test('a cursor of another view is refused', async () => {
  await expect(store.listTaskRuns({}, { view: 'failed', cursor: '12' })).rejects.toMatchObject({
    code: 'CURSOR_INVALID',
  })
  await expect(store.listTaskRuns({}, { view: 'newest', cursor: '1.2' })).rejects.toMatchObject({
    code: 'CURSOR_INVALID',
  })
})
