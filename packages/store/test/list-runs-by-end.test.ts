import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fixture, leaseOf, by } from './fixture.ts'

const { store, db, enqueue, claimOne } = await fixture()

const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' } as const

async function fail(task: string): Promise<void> {
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne(task)), outcome, by }])
}

/** Three runs: the first has ended before `time`, the second after it although it is older, the third has not ended. */
const [first, second] = await enqueue('ended', { count: 3 })
await fail('ended')
await sql`UPDATE q.task_attempt SET started_at = started_at - interval '2 hours', ended_at = ended_at - interval '2 hours'`.execute(
  db,
)
const { rows } = await sql<{
  now: Date
}>`SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 ms' AS now, pg_sleep(0.002)`.execute(db)
const time = rows[0]!.now
await sql`UPDATE q.task_run SET created_at = created_at - interval '1 day' WHERE id = ${second!}`.execute(db)
await fail('ended')

test('runs are found by the time of their end, whenever they were enqueued; a run that has not ended is left out', async () => {
  const found = async (filter: object) =>
    (await store.listTaskRuns({ task: 'ended', ...filter })).runs.map(({ id }) => id)
  expect(await found({ endedAfter: time })).toEqual([second])
  expect(await found({ endedBefore: time })).toEqual([first])
})

test('a run that ended later than its last recorded attempt is found by the end of the run', async () => {
  const [id] = await enqueue('later', { maxAttempts: 2 })
  const retry = { delayMs: 60_000, delayMsMax: 60_000 }
  await store.settleTaskRuns([{ lease: leaseOf(await claimOne('later')), outcome: { ...outcome, retry }, by }])
  await sql`UPDATE q.task_run SET run_at = '-infinity' WHERE id = ${id!}`.execute(db)
  await store.promoteDueTaskRuns(10)
  const { rows: attempts } = await sql<{ fingerprint: string }>`
    UPDATE q.task_attempt SET started_at = started_at - interval '10 minutes', ended_at = ended_at - interval '10 minutes'
    WHERE run_id = ${id!} RETURNING fingerprint`.execute(db)
  const filter = { fingerprint: attempts[0]!.fingerprint, endedAfter: time }
  await store.settleTaskRuns([
    { lease: leaseOf(await claimOne('later')), outcome: { status: 'SUCCEEDED', result: '1' }, by },
  ])
  expect((await store.listTaskRuns({ ...filter, endedAfter: time })).runs.map((run) => run.id)).toEqual([id])
})

test('an operation keeps the times of its filter', async () => {
  await enqueue('kept')
  await fail('kept')
  const asked = { task: 'kept', endedAfter: time }
  const { filter } = await store.requestOperation({ kind: 'retry', filter: asked, by: 'ada' })
  expect(filter).toEqual({ task: 'kept', endedAfter: time.toISOString() })
  const { worked } = await store.stepOperations({ holder: 'r1', forMs: 60_000 })
  expect(worked).toMatchObject({ answers: { retried: 1 } })
})
