/**
 * Removes runs that ended long enough ago, with all rows about them, reading a bounded number of rows.
 *
 * It scans the primary key from a cursor instead of an index on the end time: every finish would pay for such an index.
 * The task decides how long a run is kept (`keepMs` of its published options), otherwise the caller does. A run stays
 * longer if a run waits for it or if it has a key for a period (unique or throttled). Reports carry their own payload
 * and are removed by age (deliveries/prune.ts). Steps are removed with their workflow (workflows/prune.ts). A run that
 * another session has locked is left for the next call. It does not wait for a locked debounce key, which is about to
 * belong to another run: enqueues lock several keys in order, and this statement does not.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface PruneRequest {
  /** Where the last call stopped; undefined: from the beginning. */
  readonly after?: RunId
  readonly keepMs: number
  /** The number of rows to read. */
  readonly limit: number
}

/** Whether something still needs a run `r`. */
export const isNeeded: RawBuilder<boolean> = sql<boolean>`(
  EXISTS (SELECT FROM q.workflow_edge e JOIN q.task_run child ON child.id = e.child_id
    WHERE e.parent_id = r.id AND child.finished_at IS NULL)
  OR EXISTS (SELECT FROM q.unique_period p WHERE p.run_id = r.id AND p.until > clock_timestamp()))`

/** Excludes steps whose workflow exists: they are not pruned one by one. */
const isStep = sql<boolean>`(r.workflow_id IS NOT NULL AND EXISTS (SELECT FROM q.workflow w WHERE w.id = r.workflow_id))`

const prunedIds = sql`ANY(ARRAY(SELECT id FROM pruned))`

/** Removes all rows about the runs in `pruned`: parts of a statement. */
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
), origins AS (
  DELETE FROM q.run_origin WHERE run_id = ${prunedIds}
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

/** `next`: where to continue; undefined at the end of the table. */
export async function pruneTaskRuns(
  db: Db,
  request: PruneRequest,
): Promise<{ pruned: number; next: RunId | undefined }> {
  // Written in SQL: a bounded scan, and all tables that must agree.
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
