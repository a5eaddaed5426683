/**
 * Adds the counts of a replica since its last flush to the tally of the current minute and to the error groups.
 *
 * One statement adds all counts or none. The flush number prevents adding them twice: if the answer was lost, the
 * replica sends the same counts again under the same number, and they are added only if the first statement was not
 * committed. Rows are locked in the order of their keys, so replicas that flush together do not deadlock. The minute is
 * the database's.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import { addErrors } from '../errors/add-errors.ts'
import { boundErrors, type ErrorCount } from '../errors/error-count.ts'
import { boundTallies, type RunTally } from './run-tally.ts'

export interface Flush {
  readonly replicaId: string
  /** The number of this flush; the replica raises it after each answer. */
  readonly flushNo: number
  readonly runs: readonly RunTally[]
  readonly errors: readonly ErrorCount[]
}

export interface FlushAnswer {
  /** Whether this flush had already been committed. */
  readonly repeated: boolean
  /** The number of replicas that have not stopped; with more replicas, each should flush less often. */
  readonly replicas: number
}

export async function flushTally(db: Db, flush: Flush): Promise<FlushAnswer> {
  const runs = JSON.stringify(boundTallies(flush.runs))
  const errors = JSON.stringify(boundErrors(flush.errors))
  const { rows } = await sql<FlushAnswer>`
WITH flushed AS (
  INSERT INTO q.tally_flush AS f (replica_id, flush_no) VALUES (${flush.replicaId}, ${flush.flushNo})
  ON CONFLICT (replica_id) DO UPDATE SET flush_no = excluded.flush_no, flushed_at = excluded.flushed_at
  WHERE f.flush_no < excluded.flush_no
  RETURNING statement_timestamp() AS at
), runs AS (
  INSERT INTO q.run_tally AS t (width_s, bucket_at, queue, task, started, succeeded, failed, cancelled, retried, crashed, busy_ms,
    wait_histogram, duration_histogram)
  SELECT 60, date_bin('1 minute', flushed.at, 'epoch'), r.queue, r.task, r.started, r.succeeded, r.failed, r.cancelled, r.retried,
    r.crashed, round(r."busyMs"), r.wait, r.duration
  FROM flushed CROSS JOIN jsonb_to_recordset(${runs}::jsonb) AS r(queue text, task text, started int, succeeded int, failed int,
    cancelled int, retried int, crashed int, "busyMs" float8, wait int[], duration int[])
  ORDER BY r.queue, r.task
  ON CONFLICT (width_s, bucket_at, queue, task) DO UPDATE SET ${addedTally}
), ${addErrors(sql`${errors}`)}
SELECT NOT EXISTS (SELECT FROM flushed) AS repeated, (SELECT count(*)::int FROM q.replica WHERE stopped_at IS NULL) AS replicas`.execute(
    db,
  )
  return rows[0] ?? { repeated: true, replicas: 1 }
}

function addedHistogram(column: string) {
  const [sum, added] = [sql.ref(`t.${column}`), sql.ref(`excluded.${column}`)]
  return sql`${sql.ref(column)} = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
    FROM unnest(${sum}, ${added}) WITH ORDINALITY AS each(a, b, bucket) ORDER BY bucket)`
}

const counts = ['started', 'succeeded', 'failed', 'cancelled', 'retried', 'crashed', 'busy_ms']

/** The assignments that add further counts to rows `t` of q.run_tally. */
export const addedTally: RawBuilder<unknown> = sql.join([
  ...counts.map((count) => sql`${sql.ref(count)} = ${sql.ref(`t.${count}`)} + ${sql.ref(`excluded.${count}`)}`),
  addedHistogram('wait_histogram'),
  addedHistogram('duration_histogram'),
])
