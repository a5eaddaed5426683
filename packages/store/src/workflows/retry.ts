/**
 * FAILED | CANCELLED → RUNNING, of workflows; and one step that is retried by hand
 *
 * Steps that did not succeed get a new epoch and go back to the gate `parents`; so do those that were skipped for them,
 * however far down. Then all accounts are made anew (recount.ts), so an end is counted once, however often its step ends.
 * What succeeded stays. A map is retried with those of its items that did not succeed, a workflow step with its workflow;
 * and an item, or a step of an inner workflow, with the step it belongs to, if that has ended.
 *
 * A workflow whose compensation has begun is not retried: what its steps did has been undone. An inner one is made anew.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { follow, leaveSteps } from './advance.ts'
import { familyOf, lockWorkflow, lockWorkflowsOf } from './lock.ts'
import { letNextItemsGo } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { openSteps } from './open.ts'
import { heldBack, pauseAll, resumeAll, withoutOpenSteps } from './pause.ts'
import { recount, recountOpen } from './recount.ts'
import { newTidings, tell, type Tidings } from './tidings.ts'

/** `ending`: it has failed or was cancelled, and waits for what still runs: retry it then. */
export type RetryWorkflowAnswer = 'retried' | 'nothing-failed' | 'ending' | 'compensated' | 'not-found'
export type RetryStepAnswer = 'retried' | 'not-ended' | 'ending' | 'compensated' | 'not-found'

/** Retries all steps that did not succeed. A paused workflow goes on. */
export function retryFailedSteps(db: Db, id: WorkflowId): Promise<RetryWorkflowAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    const obstacle = await obstacleTo(trx, id)
    if (obstacle !== undefined) return obstacle
    const failed = await failedSteps(trx, await familyOf(trx, [id]))
    if (failed.length === 0) return 'nothing-failed'
    const tidings = newTidings()
    // What is retried is open again before anything else goes on: nothing may end for a failure that is forgiven.
    await reopen(trx, failed, tidings)
    const resumed = await resumeAll(trx, [id])
    const ended = await openSteps(trx, await heldBack(trx, resumed), tidings)
    await follow(trx, ended, await withoutOpenSteps(trx, resumed), tidings)
    await tell(trx, tidings)
    return 'retried'
  })
}

export function retryStep(db: Db, runId: RunId): Promise<RetryStepAnswer> {
  return inTransaction(db, async (trx) => {
    await lockWorkflowsOf(trx, [runId])
    const { rows } = await sql<{ workflowId: WorkflowId; ended: boolean; kind: string }>`
      SELECT s.workflow_id AS "workflowId", r.finished_at IS NOT NULL AS ended, s.kind
      FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id WHERE r.id = ${runId}`.execute(trx)
    const [step] = rows
    if (step === undefined) return 'not-found'
    if (!step.ended) return 'not-ended'
    const obstacle = step.kind === 'compensation' ? undefined : await obstacleTo(trx, step.workflowId)
    if (obstacle !== undefined) return obstacle
    const tidings = newTidings()
    await reopen(trx, [runId], tidings)
    await tell(trx, tidings)
    return 'retried'
  })
}

/** Of the workflow, or of one around it: what was undone is not done again, and what is ending ends first. */
async function obstacleTo(trx: Db, id: WorkflowId): Promise<'compensated' | 'ending' | undefined> {
  const { rows } = await sql<{ compensated: boolean; ending: boolean }>`
WITH RECURSIVE around AS (
  SELECT * FROM q.workflow WHERE id = ${id}
  UNION ALL
  SELECT w.* FROM around JOIN q.task_run r ON r.id = around.parent_run_id JOIN q.workflow w ON w.id = r.workflow_id
)
SELECT coalesce(bool_or(compensated_at IS NOT NULL), false) AS compensated,
  coalesce(bool_or(ends_as IS NOT NULL AND status = 'RUNNING'), false) AS ending FROM around`.execute(trx)
  const [row] = rows
  return row?.compensated === true ? 'compensated' : row?.ending === true ? 'ending' : undefined
}

async function failedSteps(trx: Db, ids: readonly WorkflowId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id AND s.kind <> 'compensation'
      JOIN q.workflow w ON w.id = r.workflow_id AND w.compensated_at IS NULL
    WHERE r.workflow_id = ANY(${ids}::bigint[]) AND r.status IN ('FAILED', 'CANCELLED', 'EXPIRED') ORDER BY r.id`.execute(
    trx,
  )
  return rows.map((row) => row.id)
}

async function reopen(trx: Db, first: readonly RunId[], tidings: Tidings): Promise<void> {
  const retried = await withRelatives(trx, first)
  const ids = await withRelatives(trx, [...retried, ...(await skippedByTheEnd(trx, retried))])
  const workflows = await reopenWorkflows(trx, ids, tidings)
  const items = await reopenRuns(trx, ids)
  await recountOpen(trx, workflows)
  const { ready, skipped } = await recount(trx, workflows)
  const ended = [
    ...(await leaveSteps(trx, ['PENDING'], skipped, tidings)),
    ...(await openSteps(trx, [...ready, ...items.free], tidings)),
  ]
  await letNextItemsGo(trx, [], tidings, items.maps)
  await follow(trx, ended, await withoutOpenSteps(trx, workflows), tidings)
}

/**
 * Those that are retried with them. Down: what was skipped for them, items of maps and steps of inner workflows that did
 * not succeed. Up: the map of an item, the step of an inner workflow, unless it is only undone again. Each only if it has
 * ended.
 */
async function withRelatives(trx: Db, ids: readonly RunId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
WITH RECURSIVE again AS (
  SELECT id FROM unnest(${ids}::bigint[]) AS given(id)
  UNION
  SELECT related.id FROM again CROSS JOIN LATERAL (
    SELECT c.id FROM q.workflow_edge e JOIN q.task_run c ON c.id = e.child_id WHERE e.parent_id = again.id AND c.status = 'SKIPPED'
    UNION ALL
    SELECT r.id FROM q.workflow_step i JOIN q.task_run r ON r.id = i.run_id
    WHERE i.item_of = again.id AND r.status IN ('FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED')
    UNION ALL
    SELECT r.id FROM q.workflow w JOIN q.task_run r ON r.workflow_id = w.id JOIN q.workflow_step s ON s.run_id = r.id AND s.kind <> 'compensation'
    WHERE w.parent_run_id = again.id AND w.compensated_at IS NULL AND r.status IN ('FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED')
    UNION ALL
    SELECT m.id FROM q.workflow_step i JOIN q.task_run m ON m.id = i.item_of WHERE i.run_id = again.id AND m.finished_at IS NOT NULL
    UNION ALL
    SELECT o.id FROM q.workflow_step s JOIN q.workflow w ON w.id = s.workflow_id JOIN q.task_run o ON o.id = w.parent_run_id
    WHERE s.run_id = again.id AND s.kind <> 'compensation' AND o.finished_at IS NOT NULL
  ) related
) SELECT again.id FROM again JOIN q.task_run r ON r.id = again.id AND r.finished_at IS NOT NULL ORDER BY again.id`.execute(
    trx,
  )
  return rows.map((row) => row.id)
}

/** A workflow that failed had skipped what had not begun, on whichever branch: it goes on there too. */
async function skippedByTheEnd(trx: Db, ids: readonly RunId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.task_run r JOIN q.workflow w ON w.id = r.workflow_id AND w.ends_as = 'FAILED' AND w.compensated_at IS NULL
    WHERE r.workflow_id = ANY(ARRAY(SELECT workflow_id FROM q.task_run WHERE id = ANY(${ids}::bigint[])))
      AND r.status = 'SKIPPED' AND r.result ->> 'code' = 'UPSTREAM_FAILED'`.execute(trx)
  return rows.map((row) => row.id)
}

/**
 * All workflows these are steps of, and their inner ones; those are paused as well where the one around them is. One that
 * is such a step is judged anew, also if all its steps have succeeded.
 */
async function reopenWorkflows(trx: Db, ids: readonly RunId[], tidings: Tidings): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId; paused: boolean }>`
UPDATE q.workflow w SET status = CASE WHEN w.status = 'PAUSED' THEN w.status ELSE 'RUNNING' END, finished_at = NULL, result = NULL,
  ends_as = CASE WHEN w.compensated_at IS NULL THEN NULL ELSE w.ends_as END, updated_at = clock_timestamp()
WHERE w.id IN (SELECT workflow_id FROM q.task_run WHERE id = ANY(${ids}::bigint[]))
  OR w.parent_run_id = ANY(${ids}::bigint[]) AND w.status IN ('FAILED', 'CANCELLED') AND w.compensated_at IS NULL
RETURNING w.id, w.status = 'PAUSED' AS paused`.execute(trx)
  const paused = rows.filter((row) => row.paused).map((row) => row.id)
  if (paused.length > 0) await pauseAll(trx, paused, 'the workflow around it', tidings)
  return familyOf(
    trx,
    rows.map((row) => row.id),
  )
}

interface ReopenedItems {
  /** Nothing holds them back. */
  readonly free: readonly RunId[]
  /** Maps that let their items go a few at a time. */
  readonly maps: readonly RunId[]
}

async function reopenRuns(trx: Db, ids: readonly RunId[]): Promise<ReopenedItems> {
  // A whole statement by hand: the success that lived in the run alone moves to the history as the run begins again.
  const { rows } = await sql<{ id: RunId; map: RunId | null; bounded: boolean; kind: string }>`
WITH ended AS MATERIALIZED (
  SELECT r.* FROM q.task_run r WHERE r.id = ANY(${ids}::bigint[]) AND r.finished_at IS NOT NULL ORDER BY r.id FOR NO KEY UPDATE
), kept AS (
  INSERT INTO q.task_attempt (run_id, fence, epoch, attempt, started_at, ended_at, outcome, replica_id)
  SELECT id, fence, epoch, attempt, started_at, finished_at, 'succeeded', replica_id FROM ended
  WHERE status = 'SUCCEEDED' AND replica_id IS NOT NULL
  ON CONFLICT DO NOTHING
), reopened AS (
  UPDATE q.task_run r SET status = 'PENDING', waiting_for = 'parents', waiting_on = CASE WHEN s.kind = 'item' THEN 1 ELSE s.needs END,
    epoch = r.epoch + 1, fence = r.fence + 1, attempt = 0, crash_count = 0, result = NULL, replica_id = NULL,
    claimed_at = NULL, started_at = NULL, finished_at = NULL, cancel_requested_at = NULL, expires_at = NULL,
    run_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM ended JOIN q.workflow_step s ON s.run_id = ended.id WHERE r.id = ended.id
  RETURNING r.id
), anew AS (
  UPDATE q.workflow_step s SET expanded = false
  WHERE s.run_id = ANY(ARRAY(SELECT id FROM reopened)) AND s.kind = 'workflow' AND s.expanded AND NOT EXISTS (
    SELECT FROM q.workflow w WHERE w.parent_run_id = s.run_id AND w.compensated_at IS NULL)
), first AS (
  UPDATE q.workflow_step m SET next_item = 0
  WHERE m.run_id IN (SELECT s.item_of FROM q.workflow_step s WHERE s.run_id = ANY(ARRAY(SELECT id FROM reopened)))
)
SELECT reopened.id, s.item_of AS map, m.parallel_max IS NOT NULL AS bounded, s.kind
FROM reopened JOIN q.workflow_step s ON s.run_id = reopened.id LEFT JOIN q.workflow_step m ON m.run_id = s.item_of
ORDER BY reopened.id`.execute(trx)
  return {
    free: rows.filter((row) => row.kind === 'item' && !row.bounded).map((row) => row.id),
    maps: [...new Set(rows.flatMap((row) => (row.bounded && row.map !== null ? row.map : [])))],
  }
}
