/** How long counts, samples and groups are kept: minutes become hours, and old rows are removed. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { counted, flush, tallyFixture } from './tally-fixture.ts'

const { db, store, another, tallies } = await tallyFixture()

/** Lets time pass for what was counted. */
async function age(interval: string) {
  await sql`UPDATE q.run_tally SET bucket_at = bucket_at - ${interval}::interval`.execute(db)
}

test('minutes older than a day become hours without a count lost or doubled; younger ones stay minutes', async () => {
  await store.flushTally(flush(1, [counted('a', { started: 1, wait: [0, 1] })]))
  await age('10 minutes')
  await store.flushTally(flush(2, [counted('a', { started: 2, wait: [3], busyMs: 7 }), counted('b', { started: 4 })]))
  await age('26 hours')
  await store.flushTally(flush(3, [counted('a', { started: 8 })]))
  const folded = [await store.foldTally(2), await store.foldTally(2), await store.foldTally(2)]
  expect(folded).toEqual([2, 1, 0])
  const rows = await tallies()
  expect(rows.filter((row) => row.width_s === 60)).toMatchObject([{ started: 8 }])
  const hours = rows.filter((row) => row.width_s === 3_600)
  expect(hours.every((row) => row.bucket_at.getTime() % 3_600_000 === 0)).toBe(true)
  expect(hours.reduce((sum, row) => sum + row.started, 0)).toBe(7)
  expect(
    hours
      .filter((row) => row.task === 'a')
      .map((row) => row.wait_histogram)
      .flat()
      .reduce((a, b) => a + b),
  ).toBe(4)
})

test('two replicas that fold at once fold each minute once', async () => {
  await store.flushTally(
    flush(
      1,
      Array.from({ length: 150 }, (_, place) => counted(`t${place}`, { started: 1 })),
    ),
  )
  await age('30 hours')
  const [one, two] = [another(), another()]
  const fold = async (own: typeof store) => {
    while ((await own.foldTally(20)) > 0);
  }
  await Promise.all([fold(one), fold(two)])
  await fold(store)
  const rows = await tallies()
  expect(rows).toHaveLength(150)
  expect(rows.every((row) => row.width_s === 3_600 && row.started === 1)).toBe(true)
})

test('old rows are removed, a bounded number at a time, and newer ones stay', async () => {
  await sql`INSERT INTO q.lane (queue, task) VALUES ('default', 'a') ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO q.run_tally (width_s, bucket_at, queue, task)
    SELECT 3600, clock_timestamp() - n * interval '20 days', 'default', 'a' FROM generate_series(0, 3) n`.execute(db)
  await sql`INSERT INTO q.queue_sample (sampled_at, ready, claimed, running, waiting_time, waiting_concurrency, queue)
    SELECT clock_timestamp() - n * interval '20 hours', 0, 0, 0, 0, 0, 'default' FROM generate_series(0, 3) n`.execute(
    db,
  )
  await sql`INSERT INTO q.action (acted_at, acted_by, via, what, subject, answer)
    SELECT clock_timestamp() - n * interval '50 days', 'ada', 'cli', 'drain', 'n', 'ok' FROM generate_series(0, 3) n`.execute(
    db,
  )
  await sql`INSERT INTO q.tally_flush VALUES ('gone', 1, clock_timestamp() - interval '9 days')`.execute(db)
  const day = 86_400_000
  const request = { samplesKeptMs: day, tallyKeptMs: 30 * day, actionsKeptMs: 90 * day, limit: 1 }
  const pruned = [
    await store.pruneOperate(request),
    await store.pruneOperate(request),
    await store.pruneOperate(request),
  ]
  expect(pruned).toEqual([1, 1, 0])
  const { rows } = await sql<{
    kept: number
  }>`SELECT count(*)::int AS kept FROM q.run_tally UNION ALL SELECT count(*)::int FROM q.queue_sample
    UNION ALL SELECT count(*)::int FROM q.action UNION ALL SELECT count(*)::int FROM q.tally_flush`.execute(db)
  expect(rows.map(({ kept }) => kept)).toEqual([2, 2, 2, 0])
})
