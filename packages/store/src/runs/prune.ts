/**
 * Removes runs that ended long enough ago, with their history, a bounded number of rows at a time.
 *
 * Walks the primary key from a cursor instead of an index on the end: such an index would be paid by every finish.
 * How long a run is kept is its task's choice (`keepMs` of its published options), else the caller's.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

export interface PruneRequest {
  /** Where the last call stopped; undefined: from the beginning. */
  readonly after?: RunId
  readonly keepMs: number
  /** Rows looked at. */
  readonly limit: number
}

/** `next`: where to go on; undefined at the end of the table. */
export async function pruneTaskRuns(
  db: Db,
  request: PruneRequest,
): Promise<{ pruned: number; next: RunId | undefined }> {
  // A whole statement by hand: a bounded walk, and three tables that must agree.
  const { rows } = await sql<{ pruned: number; looked: number; last: RunId | null }>`
WITH looked AS MATERIALIZED (
  SELECT r.id, r.task, r.finished_at FROM q.task_run r WHERE r.id > ${request.after ?? '0'} ORDER BY r.id LIMIT ${request.limit}
), old AS MATERIALIZED (
  SELECT looked.id FROM looked LEFT JOIN q.task ON task.name = looked.task
  WHERE looked.finished_at < clock_timestamp() - coalesce((task.options->>'keepMs')::float8, ${request.keepMs}) * interval '1 ms'
), pruned AS (
  DELETE FROM q.task_run r USING old WHERE r.id = old.id AND r.finished_at IS NOT NULL AND r.workflow_id IS NULL
  RETURNING r.id
), attempts AS (
  DELETE FROM q.task_attempt WHERE run_id IN (SELECT id FROM pruned)
), recoveries AS (
  DELETE FROM q.recovery WHERE run_id IN (SELECT id FROM pruned)
)
SELECT (SELECT count(*)::int FROM pruned) AS pruned, count(*)::int AS looked, max(id) AS last FROM looked`.execute(db)
  const { pruned = 0, looked = 0, last = null } = rows[0] ?? {}
  return { pruned, next: looked < request.limit || last === null ? undefined : last }
}
