/**
 * Removes workflows that ended long enough ago, each with all its steps, sub-workflows and records, in one statement, so
 * that a workflow never exists in part.
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
}

/** `next`: where to continue; undefined at the end of the table. */
export async function pruneWorkflows(
  db: Db,
  { after, keepMs, limit }: WorkflowPruneRequest,
): Promise<{ pruned: number; next: WorkflowId | undefined }> {
  // Written in SQL: it covers all tables that must agree.
  const { rows } = await sql<{ pruned: number; looked: number; last: WorkflowId | null }>`
WITH looked AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id > ${after ?? '0'} ORDER BY w.id LIMIT ${limit}
), roots AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(SELECT id FROM looked)) AND w.root_id IS NULL
    AND w.finished_at < clock_timestamp() - ${keepMs}::float8 * interval '1 ms'
  ORDER BY w.id FOR UPDATE OF w SKIP LOCKED
), family AS MATERIALIZED (
  SELECT roots.id AS root, w.id FROM roots CROSS JOIN LATERAL (
    SELECT roots.id UNION ALL SELECT inner_one.id FROM q.workflow inner_one WHERE inner_one.root_id = roots.id) w
), needed AS MATERIALIZED (
  SELECT DISTINCT family.root FROM family JOIN q.task_run r ON r.workflow_id = family.id
  WHERE r.finished_at IS NULL OR ${isNeeded}
), expired AS MATERIALIZED (
  SELECT id FROM family WHERE root <> ALL(ARRAY(SELECT root FROM needed))
), pruned AS (
  DELETE FROM q.task_run r WHERE r.workflow_id = ANY(ARRAY(SELECT id FROM expired)) RETURNING r.id
), ${prunedWithRuns}, awaited AS (
  DELETE FROM q.awaited_workflow WHERE workflow_id = ANY(ARRAY(SELECT id FROM expired))
), workflows AS (
  DELETE FROM q.workflow w WHERE w.id = ANY(ARRAY(SELECT id FROM expired)) RETURNING w.root_id
)
SELECT (SELECT count(*)::int FROM workflows WHERE root_id IS NULL) AS pruned, count(*)::int AS looked, max(id) AS last FROM looked`.execute(
    db,
  )
  const { pruned = 0, looked = 0, last = null } = rows[0] ?? {}
  return { pruned, next: looked < limit || last === null ? undefined : last }
}
