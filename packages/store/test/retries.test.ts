import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createStore, finishTaskRun, type Outcome } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, claim, row, db, another } = await fixture()

const bad: Outcome = {
  status: 'FAILED',
  code: 'TASK_ERROR',
  detail: 'Error: no',
  retry: { delayMs: 60_000, delayMsMax: 100_000 },
}

async function ageAll(): Promise<void> {
  await db
    .updateTable('q.task_run')
    .set({ run_at: new Date(0) })
    .where('due_at', 'is not', null)
    .execute()
}

test('a failed run is retried later while attempts are left, and fails permanently after the last', async () => {
  const [id] = await enqueue('flaky', { maxAttempts: 3 })
  for (const attempt of [1, 2, 3]) {
    const claimed = await claimOne('flaky')
    expect(claimed.attempt).toBe(attempt)
    const [answer] = await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: bad, by }])
    expect(answer).toBe(attempt < 3 ? 'retried' : 'settled')
    expect((await row(id!)).status).toBe(attempt < 3 ? 'PENDING' : 'FAILED')
    expect(await claim('flaky')).toEqual([])
    await ageAll()
    await store.promoteDueTaskRuns(10)
  }
  const history = await db.selectFrom('q.task_attempt').selectAll().where('run_id', '=', id!).orderBy('fence').execute()
  expect(history.map(({ attempt, outcome, code }) => [attempt, outcome, code])).toEqual([
    [1, 'retried', 'TASK_ERROR'],
    [2, 'retried', 'TASK_ERROR'],
    [3, 'failed', 'TASK_ERROR'],
  ])
})

test('a crash that its holder survived is counted as a crash: FAILED with its code, or retried at once, four starts in total', async () => {
  const died: Outcome = { status: 'FAILED', code: 'OUT_OF_MEMORY', detail: 'too much', crashed: true }
  const [once] = await enqueue('dies-once')
  const first = await claimOne('dies-once')
  expect(await store.settleTaskRuns([{ lease: leaseOf(first), outcome: died, by }])).toEqual(['settled'])
  expect(await row(once!)).toMatchObject({ status: 'FAILED', crash_count: 1, result: { code: 'OUT_OF_MEMORY' } })
  const [again] = await enqueue('dies-again', { onCrash: 'retry' })
  for (const answer of ['retried', 'retried', 'retried', 'settled']) {
    const claimed = await claimOne('dies-again')
    expect(await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: died, by }])).toEqual([answer])
  }
  expect(await row(again!)).toMatchObject({ status: 'FAILED', crash_count: 4, result: { code: 'POISONED' } })
})

test('the delay doubles with every attempt, up to its cap, with a quarter of jitter, by the database clock', async () => {
  const [id] = await enqueue('backoff', { maxAttempts: 5 })
  for (const expected of [60_000, 100_000, 100_000]) {
    const claimed = await claimOne('backoff')
    await store.settleTaskRuns([{ lease: leaseOf(claimed), outcome: bad, by }])
    const { run_at, updated_at } = await row(id!)
    const delayMs = run_at.getTime() - updated_at.getTime()
    expect(delayMs).toBeGreaterThan(expected * 0.74)
    expect(delayMs).toBeLessThan(expected * 1.26)
    await ageAll()
    await store.promoteDueTaskRuns(10)
  }
})

test('jitter never exceeds the cap of the delay, and at the cap delays still differ', async () => {
  const ids = await enqueue('capped', { count: 40, maxAttempts: 2 })
  const claimed = await claim('capped', 40)
  const outcome: Outcome = { ...bad, retry: { delayMs: 100_000, delayMsMax: 100_000 } }
  await store.settleTaskRuns(claimed.map((run) => ({ lease: leaseOf(run), outcome, by })))
  const delays = await Promise.all(
    ids.map(async (id) => {
      const { run_at, updated_at } = await row(id)
      return run_at.getTime() - updated_at.getTime()
    }),
  )
  expect(Math.max(...delays)).toBeLessThanOrEqual(100_000)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(75_000)
  expect(new Set(delays).size).toBeGreaterThan(1)
  await store.cancelTaskRuns(ids) // other tests of this file promote what is due
})

test('a delay without a cap is used as requested: neither doubled nor jittered', async () => {
  const [id] = await enqueue('asked', { maxAttempts: 9 })
  const hour = 3_600_000
  for (let attempt = 1; attempt < 9; attempt++) {
    const outcome: Outcome = { ...bad, retry: { delayMs: hour } }
    await store.settleTaskRuns([{ lease: leaseOf(await claimOne('asked')), outcome, by }])
    const { run_at, updated_at } = await row(id!)
    // Both are clock readings of one statement.
    expect(Math.round((run_at.getTime() - updated_at.getTime()) / 60_000)).toBe(60)
    await ageAll()
    await store.promoteDueTaskRuns(10)
  }
})

test('a snoozed run comes back later with its attempt returned; a lost lease snoozes nothing', async () => {
  const [id] = await enqueue('sleepy')
  const claimed = await claimOne('sleepy')
  expect(await store.snoozeTaskRun(leaseOf(claimed), 60_000)).toBe('snoozed')
  expect(await row(id!)).toMatchObject({ status: 'PENDING', waiting_for: 'time', attempt: 0, replica_id: null })
  expect(await store.snoozeTaskRun(leaseOf(claimed), 60_000)).toBe('lease-lost')
})

test('a checkpoint is saved under the lease, survives the attempt, and a lost lease saves nothing', async () => {
  const [id] = await enqueue('long')
  const old = await claimOne('long')
  expect(await store.checkpointTaskRun(leaseOf(old), '{"at":60}')).toBe('saved')
  await store.releaseTaskRuns([leaseOf(old)])
  const current = await claimOne('long')
  expect(await store.checkpointTaskRun(leaseOf(old), '{"at":99}')).toBe('lease-lost')
  expect(current.checkpoint).toBe('{"at": 60}')
  expect(await row(id!)).toMatchObject({ checkpoint: { at: 60 } })
})

test('a manual retry opens a new epoch: counts start again, the history is kept, the old lease is void', async () => {
  const [id] = await enqueue('again')
  const first = await claimOne('again')
  await store.settleTaskRuns([{ lease: leaseOf(first), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  expect(await store.retryTaskRun(id!)).toBe('retried')
  expect(await row(id!)).toMatchObject({ status: 'AVAILABLE', epoch: 2, attempt: 0, result: null, finished_at: null })
  const second = await claimOne('again')
  expect(second).toMatchObject({ epoch: 2, attempt: 1 })
  expect(second.fence).toBeGreaterThan(first.fence)
  expect(
    await store.settleTaskRuns([{ lease: leaseOf(first), outcome: { status: 'SUCCEEDED', result: '2' }, by }]),
  ).toEqual(['lease-lost'])
  const history = await db.selectFrom('q.task_attempt').selectAll().where('run_id', '=', id!).execute()
  expect(history).toMatchObject([{ epoch: 1, fence: first.fence, outcome: 'succeeded' }])
})

test('only a run that has ended can be retried, and not while another live run has its unique key', async () => {
  const [id] = await enqueue('unique', { uniqueKey: 'u' })
  expect(await store.retryTaskRun(id!)).toBe('not-ended')
  await store.cancelTaskRuns([id!])
  await enqueue('unique', { uniqueKey: 'u' })
  expect(await store.retryTaskRun(id!)).toBe('conflict')
  expect(await store.retryTaskRun('999999' as never)).toBe('not-found')
})

test('a cancel ends a waiting run at once, requests a stop of a running one, and does not change one that has ended', async () => {
  const [pending] = await enqueue('cancel', { delayMs: 60_000 })
  const [running, claimed, ended, available] = await enqueue('cancel', { count: 4 })
  await claimOne('cancel')
  const [ahead] = await store.claimAvailableTaskRuns({
    replicaId: 'r',
    tasks: ['cancel'],
    queues: [],
    limit: 1,
    prefetch: true,
  })
  expect(ahead!.runId).toBe(claimed)
  const done = await claimOne('cancel')
  await store.settleTaskRuns([{ lease: leaseOf(done), outcome: { status: 'SUCCEEDED', result: '1' }, by }])
  const ids = [pending!, available!, claimed!, running!, ended!, '999999' as never]
  const answers = ['cancelled', 'cancelled', 'cancelled', 'requested', 'already-ended', 'not-found']
  expect(await store.cancelTaskRuns(ids, 'by Ada')).toEqual(answers)
  expect(await row(claimed!)).toMatchObject({
    status: 'CANCELLED',
    result: { code: 'TASK_CANCELLED', detail: 'by Ada' },
  })
  expect((await row(running!)).cancel_requested_at).not.toBeNull()
  expect(await row(ended!)).toMatchObject({ status: 'SUCCEEDED', result: 1 })
  // The claim of the cancelled run is void.
  expect(await store.startTaskRuns([leaseOf(ahead!)])).toEqual([])
})

test('a prefetched run is CLAIMED without an attempt, and starts only under its lease', async () => {
  const [id] = await enqueue('ahead')
  const request = { replicaId: 'r', tasks: ['ahead'], queues: [], limit: 1, prefetch: true }
  const [old] = await store.claimAvailableTaskRuns(request)
  expect(await row(id!)).toMatchObject({ status: 'CLAIMED', attempt: 0, started_at: null })
  await store.releaseTaskRuns([leaseOf(old!)])
  expect(await row(id!)).toMatchObject({ status: 'AVAILABLE', attempt: 0 })
  const [current] = await store.claimAvailableTaskRuns(request)
  expect(await store.startTaskRuns([leaseOf(old!), leaseOf(current!)])).toEqual([id])
  expect(await row(id!)).toMatchObject({ status: 'RUNNING', attempt: 1 })
  expect(await store.startTaskRuns([leaseOf(current!)])).toEqual([])
})

test('a cancel during a release is not lost', async () => {
  const [id] = await enqueue('on-its-way')
  const claimed = await claimOne('on-its-way')
  const answer = await db.transaction().execute(async (trx) => {
    await createStore(trx).releaseTaskRuns([leaseOf(claimed)])
    const asked = another().cancelTaskRuns([id!])
    await expect.poll(waitingForLocks).toBe(1)
    return { asked }
  })
  expect(await answer.asked).toEqual(['cancelled'])
  expect(await row(id!)).toMatchObject({ status: 'CANCELLED' })
})

test('a cancel that races with the end of a run returns that it has ended', async () => {
  const [id] = await enqueue('ending')
  const claimed = await claimOne('ending')
  const answer = await db.transaction().execute(async (trx) => {
    await finishTaskRun(trx, leaseOf(claimed), 1)
    const asked = another().cancelTaskRuns([id!])
    await expect.poll(waitingForLocks).toBe(1)
    return { asked }
  })
  expect(await answer.asked).toEqual(['already-ended'])
  expect(await row(id!)).toMatchObject({ status: 'SUCCEEDED' })
})

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
  return rows[0]!.count
}

test('a run with a cancel request is not started again: not after a failure, a snooze, a release or a crash', async () => {
  const ids = await enqueue('unwanted', { count: 4, maxAttempts: 3, onCrash: 'retry' })
  const runs = [
    await claimOne('unwanted'),
    await claimOne('unwanted'),
    await claimOne('unwanted'),
    await claimOne('unwanted', 'absent'),
  ]
  expect(await store.cancelTaskRuns(ids)).toEqual(ids.map(() => 'requested'))
  expect(await store.settleTaskRuns([{ lease: leaseOf(runs[0]!), outcome: bad, by }])).toEqual(['settled'])
  expect(await store.snoozeTaskRun(leaseOf(runs[1]!), 60_000)).toBe('cancelled')
  await store.releaseTaskRuns([leaseOf(runs[2]!)])
  await store.reap({ by: 'reaper', causes: ['never-alive'] })
  for (const id of ids) expect(await row(id)).toMatchObject({ status: 'CANCELLED', result: { code: 'TASK_CANCELLED' } })
})
