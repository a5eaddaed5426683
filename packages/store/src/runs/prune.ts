/**
 * Removes runs that ended long enough ago, with all that is written about them, looking at a bounded number of rows.
 *
 * Walks the primary key from a cursor instead of an index on the end: such an index would be paid by every finish.
 * How long a run is kept is its task's choice (`keepMs` of its published options), else the caller's. Longer, if
 * somebody still needs it: a run that waits for it, a destination that is owed its report, a key that is its own for a
 * period (unique or throttled). Steps go with their workflow, all at once (workflows/prune.ts). A run that somebody has
 * locked is left for the next time; a debounce key that somebody has locked is about to be another run's, and is not waited for:
 * an enqueue waits for several keys, in their order, and we have none.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

export interface PruneRequest {
  /** Where the last call stopped; undefined: from the beginning. */
  readonly after?: RunId
  readonly keepMs: number
  /** Rows looked at. */
  readonly limit: number
}

/** Judged of a run `r`. */
export const isNeeded: RawBuilder<boolean> = sql<boolean>`(
  EXISTS (SELECT FROM q.workflow_edge e JOIN q.task_run child ON child.id = e.child_id
    WHERE e.parent_id = r.id AND child.finished_at IS NULL)
  OR EXISTS (SELECT FROM q.delivery d WHERE d.run_id = r.id AND d.due_at IS NOT NULL)
  OR EXISTS (SELECT FROM q.unique_period p WHERE p.run_id = r.id AND p.until > clock_timestamp()))`

/** A step whose workflow is there is none of those that are pruned one by one. */
const isStep = sql<boolean>`(r.workflow_id IS NOT NULL AND EXISTS (SELECT FROM q.workflow w WHERE w.id = r.workflow_id))`

const prunedIds = sql`ANY(ARRAY(SELECT id FROM pruned))`

/** All that is written about the runs in `pruned`: parts of a statement. */
export const prunedWithRuns: RawBuilder<unknown> = sql`attempts AS (
  DELETE FROM q.task_attempt WHERE run_id = ${prunedIds}
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ${prunedIds}
), recoveries AS (
  DELETE FROM q.recovery WHERE run_id = ${prunedIds}
), logs AS (
  DELETE FROM q.task_log WHERE run_id = ${prunedIds}
), events AS (
  DELETE FROM q.task_event WHERE run_id = ${prunedIds}
), deliveries AS (
  DELETE FROM q.delivery WHERE run_id = ${prunedIds}
), periods AS (
  DELETE FROM q.unique_period WHERE run_id = ${prunedIds}
), keys AS MATERIALIZED (
  SELECT task, debounce_key FROM q.debounce WHERE run_id = ${prunedIds} FOR UPDATE SKIP LOCKED
), debounces AS (
  DELETE FROM q.debounce d USING keys WHERE d.task = keys.task AND d.debounce_key = keys.debounce_key
), ticks AS (
  DELETE FROM q.schedule_tick WHERE run_id = ${prunedIds}
), steps AS (
  DELETE FROM q.workflow_step WHERE run_id = ${prunedIds}
), edges AS (
  DELETE FROM q.workflow_edge WHERE parent_id = ${prunedIds} OR child_id = ${prunedIds}
)`

/** `next`: where to go on; undefined at the end of the table. */
export async function pruneTaskRuns(
  db: Db,
  request: PruneRequest,
): Promise<{ pruned: number; next: RunId | undefined }> {
  // A whole statement by hand: a bounded walk, and all tables that must agree.
  const { rows } = await sql<{ pruned: number; looked: number; last: RunId | null }>`
WITH looked AS MATERIALIZED (
  SELECT r.id FROM q.task_run r WHERE r.id > ${request.after ?? '0'} ORDER BY r.id LIMIT ${request.limit}
), old AS MATERIALIZED (
  SELECT r.id FROM q.task_run r LEFT JOIN q.task ON task.name = r.task
  WHERE r.id = ANY(ARRAY(SELECT id FROM looked)) AND NOT ${isStep} AND NOT ${isNeeded}
    AND r.finished_at < clock_timestamp() - coalesce((task.options->>'keepMs')::float8, ${request.keepMs}) * interval '1 ms'
  ORDER BY r.id FOR UPDATE OF r SKIP LOCKED
), pruned AS (
  DELETE FROM q.task_run r WHERE r.id = ANY(ARRAY(SELECT id FROM old))
  RETURNING r.id
), ${prunedWithRuns}
SELECT (SELECT count(*)::int FROM pruned) AS pruned, count(*)::int AS looked, max(id) AS last FROM looked`.execute(db)
  const { pruned = 0, looked = 0, last = null } = rows[0] ?? {}
  return { pruned, next: looked < request.limit || last === null ? undefined : last }
}
