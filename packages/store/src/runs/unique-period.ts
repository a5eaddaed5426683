/**
 * A unique key for a period: counted from the enqueue of the run that took it, the key belongs to that run, whatever
 * its outcome. The row of the key says until when; an expired row is overwritten.
 *
 * The run is inserted first, then its period, in one transaction: two enqueues with one unique key collide at the live
 * run, and wait for each other there. If the other run was inserted and ended between the read and the insert, or if
 * the key belongs to a throttle, which no live run holds, they collide at the period, and the new run is removed again.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface UniquePeriod {
  readonly runId: RunId
  readonly task: string
  readonly key: string
  readonly forMs: number
}

/** Returns the run that has the key for a period. A run that was deleted has no key. */
export function periodHolder(task: RawBuilder<unknown>, key: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`SELECT holder.id FROM q.unique_period period JOIN q.task_run holder ON holder.id = period.run_id
    WHERE period.task = ${task} AND period.unique_key = ${key} AND period.until > clock_timestamp()`
}

/** Gives new runs their keys. Runs that came too late are removed again, and the holder of the key is the answer. */
export async function beginPeriods(db: Db, periods: readonly UniquePeriod[]): Promise<RunId[]> {
  if (periods.length === 0) return []
  const { rows } = await periodsStatement(periods).execute(db)
  const begun = new Set(rows.map(({ id }) => id))
  const tooLate = periods.filter(({ runId }) => !begun.has(runId)).map(({ runId }) => runId)
  if (tooLate.length === 0) return []
  await db.deleteFrom('q.task_run').where('id', 'in', tooLate).execute()
  await forgetRemoved(
    db,
    periods.filter(({ runId }) => !begun.has(runId)),
  )
  return tooLate
}

/**
 * Removes periods whose run was deleted manually. It follows the statement that waited for the rows, because only a
 * later statement sees the run of the transaction that was waited for.
 */
async function forgetRemoved(db: Db, periods: readonly UniquePeriod[]): Promise<void> {
  await sql`DELETE FROM q.unique_period period
    USING unnest(${periods.map((p) => p.task)}::text[], ${periods.map((p) => p.key)}::text[]) AS g(task, key)
    WHERE period.task = g.task AND period.unique_key = g.key
      AND NOT EXISTS (SELECT FROM q.task_run holder WHERE holder.id = period.run_id)`.execute(db)
}

// Written in SQL: arrays in, rows in the order of their keys.
export function periodsStatement(periods: readonly UniquePeriod[]): RawBuilder<{ id: RunId }> {
  const column = <T>(read: (period: UniquePeriod) => T): T[] => periods.map(read)
  return sql<{ id: RunId }>`
INSERT INTO q.unique_period AS period (task, unique_key, run_id, until)
SELECT task, key, run_id, clock_timestamp() + for_ms * interval '1 ms'
FROM unnest(${column((p) => p.task)}::text[], ${column((p) => p.key)}::text[], ${column((p) => p.runId)}::bigint[],
  ${column((p) => p.forMs)}::float8[]) AS g(task, key, run_id, for_ms)
ORDER BY task COLLATE "C", key COLLATE "C"
ON CONFLICT (task, unique_key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until
WHERE period.until <= clock_timestamp()
RETURNING run_id::text AS id`
}
