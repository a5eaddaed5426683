/**
 * What is wrong with workflows, by one look at one moment. Counts and states are changed together, in one transaction
 * each, so nothing is ever found here unless a hand, or a restored backup, has changed one without the other.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import type { WorkflowId } from './new-workflow.ts'
import { accountsOf } from './recount.ts'

export type Fault =
  /** A step waits for another number of parents than it says, or tolerates another. */
  | 'wrong-count'
  /** A step waits, and its parents have let it go. */
  | 'not-released'
  /** A map or workflow step waits, and all it waited for has ended. */
  | 'not-settled'
  /** A step waits for parents that can let it go no more. */
  | 'not-skipped'
  /** Items of a map wait, and there is room for them. */
  | 'items-waiting'
  /** A step is held back, and its workflow is not paused. */
  | 'held-back'
  /** A step can be claimed, now or soon, and its workflow is paused. */
  | 'not-held-back'
  /** A step has not begun, and its workflow is at its end. */
  | 'not-stopped'
  /** The workflow has another number of open steps than it says. */
  | 'wrong-open-steps'
  /** All its steps have ended, and it has not. */
  | 'not-ended'

export interface Finding {
  readonly workflowId: WorkflowId
  /** The outermost workflow it is part of. */
  readonly rootId: WorkflowId
  readonly fault: Fault
  /** Null: it is about the workflow itself. */
  readonly runId: RunId | null
}

/** About these workflows; those that have ended are not looked at. */
export async function findingsIn(db: Db, ids: readonly WorkflowId[]): Promise<Finding[]> {
  if (ids.length === 0) return []
  // A whole statement by hand: one look at one moment.
  const { rows } = await sql<Finding>`
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
  SELECT workflow_id, 'wrong-count' AS fault, id FROM accounts WHERE waiting_on <> stored_on OR tolerates <> stored_tolerates
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
SELECT found.workflow_id AS "workflowId", coalesce(w.root_id, w.id) AS "rootId", found.fault, found.id AS "runId"
FROM found JOIN q.workflow w ON w.id = found.workflow_id ORDER BY found.workflow_id, found.id, found.fault`.execute(db)
  return rows
}
