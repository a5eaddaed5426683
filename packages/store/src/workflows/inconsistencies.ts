/**
 * Finds workflows whose counts and states contradict each other, in one snapshot. Every transaction changes counts and
 * states together, so only manual SQL or a restored backup can cause an inconsistency.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { WorkflowId } from './new-workflow.ts'
import { accountsOf } from './recount.ts'

export type InconsistencyKind =
  /** The stored number of parents that a step waits for, or tolerates, is wrong. */
  | 'wrong-count'
  /** A step waits although its parents have released it. */
  | 'not-released'
  /** A map or sub-workflow step waits although all it waited for has ended. */
  | 'not-settled'
  /** A step waits for parents that can no longer release it. */
  | 'not-skipped'
  /** Items of a map wait although there is room for them. */
  | 'items-waiting'
  /** A step is held although its workflow is not paused. */
  | 'held-back'
  /** A step is not held although its workflow is paused. */
  | 'not-held-back'
  /** A step can still start although its workflow is ending. */
  | 'not-stopped'
  /** The stored number of open steps is wrong. */
  | 'wrong-open-steps'
  /** The workflow is open although all its steps have ended. */
  | 'not-ended'

export interface Inconsistency {
  readonly workflowId: WorkflowId
  /** The outermost workflow that contains it. */
  readonly rootId: WorkflowId
  readonly kind: InconsistencyKind
  /** Null: the inconsistency concerns the workflow itself. */
  readonly runId: RunId | null
}

/** Checks these workflows; ended workflows are not checked. */
export async function inconsistenciesIn(db: Db, ids: readonly WorkflowId[]): Promise<Inconsistency[]> {
  if (ids.length === 0) return []
  // Written in SQL, so that everything is read in one snapshot.
  const { rows } = await sql<Inconsistency>`
WITH live AS MATERIALIZED (
  SELECT id, status, ends_as, open_steps FROM q.workflow WHERE id = ANY(${ids}::bigint[]) AND finished_at IS NULL
), accounts AS MATERIALIZED (
  ${accountsOf(sql`ARRAY(SELECT id FROM live)`)}
), open AS MATERIALIZED (
  SELECT r.id, r.workflow_id, r.status, r.waiting_for, s.kind, s.item_of, s.expanded
  FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
  WHERE r.workflow_id = ANY(ARRAY(SELECT id FROM live)) AND r.finished_at IS NULL
), counted AS MATERIALIZED (
  SELECT workflow_id, count(*) AS steps FROM open GROUP BY workflow_id
), found AS (
  SELECT workflow_id, 'wrong-count' AS kind, id FROM accounts WHERE waiting_on <> stored_on OR tolerates <> stored_tolerates
  UNION ALL
  SELECT workflow_id, CASE WHEN expanded THEN 'not-settled' ELSE 'not-released' END, id FROM accounts WHERE waiting_on = 0
  UNION ALL
  SELECT workflow_id, 'not-skipped', id FROM accounts WHERE waiting_on > 0 AND tolerates < 0 AND NOT expanded
  UNION ALL
  SELECT m.workflow_id, 'items-waiting', m.run_id FROM (
    SELECT item_of, count(*) FILTER (WHERE waiting_for = 'parents') AS waiting,
      count(*) FILTER (WHERE waiting_for IS DISTINCT FROM 'parents') AS under_way
    FROM open WHERE item_of IS NOT NULL GROUP BY item_of) items
  JOIN q.workflow_step m ON m.run_id = items.item_of
  WHERE items.waiting > 0 AND items.under_way < coalesce(m.parallel_max, items.waiting + items.under_way)
  UNION ALL
  SELECT live.id, 'held-back', open.id FROM live JOIN open ON open.workflow_id = live.id
  WHERE live.status <> 'PAUSED' AND open.waiting_for = 'workflow'
  UNION ALL
  SELECT live.id, 'not-held-back', open.id FROM live JOIN open ON open.workflow_id = live.id
  WHERE live.status = 'PAUSED' AND (open.status IN ('AVAILABLE', 'CLAIMED') OR open.waiting_for IN ('task', 'time', 'concurrency'))
  UNION ALL
  SELECT live.id, 'not-stopped', open.id FROM live JOIN open ON open.workflow_id = live.id
  WHERE live.ends_as IS NOT NULL AND open.kind <> 'compensation' AND NOT open.expanded AND open.status <> 'RUNNING'
  UNION ALL
  SELECT live.id, 'wrong-open-steps', NULL FROM live LEFT JOIN counted ON counted.workflow_id = live.id
  WHERE live.open_steps <> coalesce(counted.steps, 0)
  UNION ALL
  SELECT live.id, 'not-ended', NULL FROM live LEFT JOIN counted ON counted.workflow_id = live.id
  WHERE live.status = 'RUNNING' AND counted.steps IS NULL
)
SELECT found.workflow_id AS "workflowId", coalesce(w.root_id, w.id) AS "rootId", found.kind, found.id AS "runId"
FROM found JOIN q.workflow w ON w.id = found.workflow_id ORDER BY found.workflow_id, found.id, found.kind`.execute(db)
  return rows
}
