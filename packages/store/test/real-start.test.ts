/** RUNNING is committed before a thread begins a run that was started ahead: the end says when its code really began. */
import { afterAll, expect, test } from 'vitest'
import { connect, createClaimer, exchangeWork, type Outcome, type RunId } from '@q/store'
import { by, fixture, leaseOf } from './fixture.ts'

const { store, enqueue, claimOne, db, url } = await fixture()
const connection = connect(url, { purpose: 'exchange' })
afterAll(() => connection.close())

const hourMs = 3_600_000
const succeeded: Outcome = { status: 'SUCCEEDED', result: '1' }
const failed: Outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' }

/** RUNNING, committed two hours ago. */
async function startedAhead(task: string) {
  const run = await claimOne(task)
  const started_at = new Date(Date.now() - 2 * hourMs)
  await db.updateTable('q.task_run').set({ started_at }).where('id', '=', run.runId).execute()
  return { run, started_at }
}

/** The start that the run, its last attempt and its timeline show. */
async function shownStart(id: RunId): Promise<Date> {
  const { run, attempts, timeline } = (await store.getTaskRun(id))!
  const [attempt] = attempts
  const begun = timeline.find(({ what }) => what === 'started')
  expect(begun?.at).toEqual(attempt?.startedAt)
  // A run that will start again has no start of its own.
  expect([null, attempt?.startedAt]).toContainEqual(run.startedAt)
  return attempt!.startedAt!
}

test('a plain success records when its code began', async () => {
  await enqueue('plain')
  const { run, started_at } = await startedAhead('plain')
  const claimer = createClaimer({ replicaId: 'replica-aaaa', tasks: [], queues: [] })
  const finish = { lease: leaseOf(run), result: '1', by, tookMs: hourMs }
  await exchangeWork(connection, claimer, { finishes: [finish], starts: [], claim: 0, prefetch: 0 })
  expect((await shownStart(run.runId)).getTime()).toBeGreaterThanOrEqual(started_at.getTime() + hourMs)
})

test.each<[string, Outcome]>([
  ['keyed-success', succeeded],
  ['failure', failed],
  ['retried', { ...failed, retry: { delayMs: 1_000 } }],
  ['crash', { ...failed, crashed: true }],
])('every other outcome records when its code began: %s', async (task, outcome) => {
  await enqueue(task, { maxAttempts: 2, concurrency: { scope: task, key: 'k' } })
  const { run, started_at } = await startedAhead(task)
  await store.settleTaskRuns([{ lease: leaseOf(run), outcome, by, tookMs: hourMs }])
  expect((await shownStart(run.runId)).getTime()).toBeGreaterThanOrEqual(started_at.getTime() + hourMs)
})

test('a snoozed attempt began when its code did', async () => {
  await enqueue('snoozed')
  const { run, started_at } = await startedAhead('snoozed')
  await store.snoozeTaskRun(leaseOf(run), 1_000, hourMs)
  expect((await shownStart(run.runId)).getTime()).toBeGreaterThanOrEqual(started_at.getTime() + hourMs)
})

test.each([undefined, 3 * hourMs])(
  'without a report, or by a wrong one, an attempt began when RUNNING was committed: %s',
  async (tookMs) => {
    const task = `committed-${tookMs}`
    await enqueue(task)
    const { run, started_at } = await startedAhead(task)
    await store.settleTaskRuns([
      { lease: leaseOf(run), outcome: succeeded, by, ...(tookMs !== undefined && { tookMs }) },
    ])
    expect(await shownStart(run.runId)).toEqual(started_at)
  },
)
