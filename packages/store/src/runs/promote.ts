/**
 * PENDING (time) → AVAILABLE
 *
 * Opens the gate `time` for runs whose hour has come, oldest first, a bounded number at once. Any replica may do it at
 * any time: SKIP LOCKED makes two of them share the work. A cancel that comes first leaves nothing to promote.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

/** Ids promoted; as many as `limit` means there may be more. */
export async function promoteDueTaskRuns(db: Db, limit: number): Promise<RunId[]> {
  return (await promoteStatement(limit).execute(db)).rows.map((row) => row.id)
}

/** When the next gated run is due, in ms from now by the database's clock; undefined when there is none. */
export async function nextDueInMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ due_in_ms: number | null }>`
    SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 * 1000 AS due_in_ms
    FROM q.task_run WHERE due_at IS NOT NULL`.execute(db)
  const due = rows[0]?.due_in_ms ?? null
  return due === null ? undefined : Math.max(0, due)
}

// A whole statement by hand: the limited, locked set must be materialised before the update.
export function promoteStatement(limit: number): RawBuilder<{ id: RunId }> {
  return sql<{ id: RunId }>`
WITH due AS MATERIALIZED (
  SELECT id FROM q.task_run
  WHERE due_at <= clock_timestamp() AND concurrency_key IS NULL
  ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL, updated_at = clock_timestamp()
WHERE id = ANY(ARRAY(SELECT id FROM due))
RETURNING id`
}
