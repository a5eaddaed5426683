/**
 * Removes workflows that ended long enough ago, each with all its steps, sub-workflows and records, in one statement, so
 * that a workflow never exists in part. A statement removes a bounded number of runs, but at least one workflow: one
 * that took too long would be repeated, and fail, forever.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { isNeeded, prunedWithRuns } from '../runs/prune.ts'
import type { WorkflowId } from './new-workflow.ts'

export interface WorkflowPruneRequest {
  /** Where the last call stopped. Undefined: start from the beginning. */
  readonly after?: WorkflowId
  readonly keepMs: number
  /** How many workflows to check. */
  readonly limit: number
  /** No further workflow is removed when the ones before it have this many runs. Default: 20 000. */
  readonly runsMax?: number
}

const runsDefault = 20_000

/** `next`: where to continue; undefined at the end of the table. */
export async function pruneWorkflows(
  db: Db,
  { after, keepMs, limit, runsMax = runsDefault }: WorkflowPruneRequest,
): Promise<{ pruned: number; next: WorkflowId | undefined }> {
  // Written in SQL: it covers all tables that must agree.
  const { rows } = await sql<{ pruned: number; looked: number; last: WorkflowId | null; postponed: boolean }>`
WITH looked AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id > ${after ?? '0'} ORDER BY w.id LIMIT ${limit}
), roots AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(SELECT id FROM looked)) AND w.root_id IS NULL
    AND w.finished_at < clock_timestamp() - ${keepMs}::float8 * interval '1 ms'
  ORDER BY w.id FOR UPDATE OF w SKIP LOCKED
), family AS MATERIALIZED (
  SELECT roots.id AS root, w.id FROM roots CROSS JOIN LATERAL (
    SELECT roots.id UNION ALL SELECT inner_one.id FROM q.workflow inner_one WHERE inner_one.root_id = roots.id) w
), sized AS MATERIALIZED (
  SELECT root, sum(runs) OVER (ORDER BY root) - runs >= ${runsMax} AS later FROM (
    SELECT family.root, count(r.id) AS runs FROM family LEFT JOIN q.task_run r ON r.workflow_id = family.id GROUP BY family.root) counted
), needed AS MATERIALIZED (
  SELECT DISTINCT family.root FROM family JOIN sized USING (root) JOIN q.task_run r ON r.workflow_id = family.id
  WHERE NOT sized.later AND (r.finished_at IS NULL OR ${isNeeded})
), expired AS MATERIALIZED (
  SELECT id FROM family JOIN sized USING (root) WHERE NOT sized.later AND root <> ALL(ARRAY(SELECT root FROM needed))
), pruned AS (
  DELETE FROM q.task_run r WHERE r.workflow_id = ANY(ARRAY(SELECT id FROM expired)) RETURNING r.id
), ${prunedWithRuns}, awaited AS (
  DELETE FROM q.awaited_workflow WHERE workflow_id = ANY(ARRAY(SELECT id FROM expired))
), workflows AS (
  DELETE FROM q.workflow w WHERE w.id = ANY(ARRAY(SELECT id FROM expired)) RETURNING w.root_id
)
SELECT (SELECT count(*)::int FROM workflows WHERE root_id IS NULL) AS pruned, count(*)::int AS looked,
  coalesce((SELECT min(root) - 1 FROM sized WHERE later), max(id)) AS last, EXISTS (SELECT FROM sized WHERE later) AS postponed
FROM looked`.execute(db)
  const { pruned = 0, looked = 0, last = null, postponed = false } = rows[0] ?? {}
  return { pruned, next: last === null || (looked < limit && !postponed) ? undefined : last }
}
