/**
 * Folds minutes of the tally that are older than a day into hours, a bounded number of rows at a time. One statement
 * adds to the hour and deletes the minute, so a count is never in both. Flushes write only the current minute, so they
 * do not conflict with it. Two replicas that fold at the same time skip each other's rows.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { addedTally } from './flush.ts'

const minutesKept = sql`interval '24 hours'`

/** Returns the number of folded minutes; fewer than `limit` means that none is left. */
export async function foldTally(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
WITH old AS MATERIALIZED (
  SELECT width_s, bucket_at, queue, task FROM q.run_tally
  WHERE width_s = 60 AND bucket_at < date_bin('1 hour', clock_timestamp() - ${minutesKept}, 'epoch')
  ORDER BY width_s, bucket_at, queue, task LIMIT ${limit} FOR UPDATE SKIP LOCKED
), minutes AS (
  DELETE FROM q.run_tally t USING old
  WHERE (t.width_s, t.bucket_at, t.queue, t.task) = (old.width_s, old.bucket_at, old.queue, old.task)
  RETURNING t.*, date_bin('1 hour', t.bucket_at, 'epoch') AS hour
), hours AS (
  INSERT INTO q.run_tally AS t (width_s, bucket_at, queue, task, started, succeeded, failed, cancelled, retried, crashed, busy_ms,
    wait_histogram, duration_histogram)
  SELECT 3600, hour, queue, task, sum(started), sum(succeeded), sum(failed), sum(cancelled), sum(retried), sum(crashed), sum(busy_ms),
    coalesce((${histogramOf('wait_histogram')}), '{}'), coalesce((${histogramOf('duration_histogram')}), '{}')
  FROM minutes m GROUP BY hour, queue, task ORDER BY hour, queue, task
  ON CONFLICT (width_s, bucket_at, queue, task) DO UPDATE SET ${addedTally}
)
SELECT count(*)::int AS folded FROM minutes`.execute(db)
  return rows[0]?.folded ?? 0
}

/** The sum of the histograms of a group `m` of minutes. */
function histogramOf(column: string) {
  return sql`SELECT array_agg(counted ORDER BY bucket) FROM (
      SELECT each.bucket, sum(each.counted)::int AS counted
      FROM minutes own CROSS JOIN LATERAL unnest(${sql.ref(`own.${column}`)}) WITH ORDINALITY AS each(counted, bucket)
      WHERE own.hour = m.hour AND own.queue = m.queue AND own.task = m.task GROUP BY each.bucket) sums`
}
