/**
 * FAILED | CANCELLED → RUNNING, of workflows; and the manual retry of one step
 *
 * Steps that did not succeed get a new epoch and return to the gate `parents`, and so do the steps that were skipped
 * because of them, at any depth. Then all counts are computed again (recount.ts), so an end is counted once, however
 * often its step ends. Steps that succeeded do not change. Retrying a map retries its items that did not succeed;
 * retrying a sub-workflow step retries its workflow. Retrying an item, or a step of a sub-workflow, also retries the
 * step that contains it, if that has ended.
 *
 * A workflow whose compensation has begun cannot be retried: its effects have been undone. A compensated sub-workflow is
 * created anew, once it has ended.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { reviewedByRetry } from '../liveness/review.ts'
import { propagateEnds } from './advance.ts'
import { transitionSteps } from './transition-steps.ts'
import { familyOf, lockWorkflow, lockWorkflowsOf } from './lock.ts'
import { releaseNextItems } from './map-items.ts'
import type { WorkflowId } from './new-workflow.ts'
import { activateSteps } from './activate-steps.ts'
import { heldSteps, pauseAll, resumeAll, withoutOpenSteps } from './hold-steps.ts'
import { recount, recountOpen } from './recount.ts'
import { newPendingWakes, flushWakes, type PendingWakes } from './pending-wakes.ts'

/** `ending`: the workflow failed or was cancelled and waits for running steps: retry it after they have ended. */
export type RetryWorkflowAnswer = 'retried' | 'nothing-failed' | 'ending' | 'compensated' | 'not-found'
export type RetryStepAnswer = 'retried' | 'not-ended' | 'ending' | 'compensated' | 'not-found'

/** Retries all steps that did not succeed. A paused workflow continues. */
export function retryFailedSteps(db: Db, id: WorkflowId): Promise<RetryWorkflowAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    const obstacle = await retryObstacle(trx, id)
    if (obstacle !== undefined) return obstacle
    const failed = await failedSteps(trx, await familyOf(trx, [id]))
    if (failed.length === 0) return 'nothing-failed'
    const wakes = newPendingWakes()
    // Retried steps are reopened before anything else happens: a failure that is retried must not end the workflow.
    if ((await reopen(trx, failed, wakes)) === 'ending') return 'ending'
    const resumed = await resumeAll(trx, [id])
    const ended = await activateSteps(trx, await heldSteps(trx, resumed), wakes)
    await propagateEnds(trx, ended, await withoutOpenSteps(trx, resumed), wakes)
    await flushWakes(trx, wakes)
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
    const obstacle = step.kind === 'compensation' ? undefined : await retryObstacle(trx, step.workflowId)
    if (obstacle !== undefined) return obstacle
    const wakes = newPendingWakes()
    const answer = await reopen(trx, [runId], wakes)
    await flushWakes(trx, wakes)
    return answer
  })
}

/** Checks the workflow and the workflows that contain it: a compensated one is not retried, and an ending one ends first. */
async function retryObstacle(trx: Db, id: WorkflowId): Promise<'compensated' | 'ending' | undefined> {
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

/** `ending`: nothing was changed, because a sub-workflow whose step was cancelled has not ended yet. */
async function reopen(trx: Db, first: readonly RunId[], wakes: PendingWakes): Promise<'retried' | 'ending'> {
  const retried = await withRelatives(trx, first)
  const ids = await withRelatives(trx, [...retried, ...(await skippedByTheEnd(trx, retried))])
  if (await areStepsOfEnding(trx, ids)) return 'ending'
  const workflows = await reopenWorkflows(trx, ids, wakes)
  const items = await reopenRuns(trx, ids)
  await recountOpen(trx, workflows)
  const { ready, skipped } = await recount(trx, workflows)
  const ended = [
    ...(await transitionSteps(trx, ['PENDING'], skipped, wakes)),
    ...(await activateSteps(trx, [...ready, ...items.free], wakes)),
  ]
  await releaseNextItems(trx, [], wakes, items.maps)
  await propagateEnds(trx, ended, await withoutOpenSteps(trx, workflows), wakes)
  return 'retried'
}

/** Whether the sub-workflow of one of these ended steps still runs, or undoes its steps. */
async function areStepsOfEnding(trx: Db, ids: readonly RunId[]): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM q.workflow WHERE parent_run_id = ANY(${ids}::bigint[]) AND finished_at IS NULL LIMIT 1`.execute(trx)
  return rows.length > 0
}

/**
 * Adds the ended steps that are retried together with these. Down: steps skipped because of them, and items of maps and
 * steps of sub-workflows that did not succeed. Up: the map of an item, and the step of a sub-workflow unless that was
 * compensated.
 */
async function withRelatives(trx: Db, ids: readonly RunId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
WITH RECURSIVE again AS (
  SELECT id FROM unnest(${ids}::bigint[]) AS given(id)
  UNION
  SELECT related.id FROM again CROSS JOIN LATERAL (
    SELECT c.id FROM q.workflow_edge e JOIN q.task_run c ON c.id = e.child_id WHERE e.parent_id = again.id AND c.status = 'SKIPPED'
    UNION ALL
    SELECT r.id FROM q.workflow_step m JOIN q.workflow_step i ON i.item_of = m.run_id JOIN q.task_run r ON r.id = i.run_id
    WHERE m.run_id = again.id AND m.kind = 'map' AND r.status IN ('FAILED', 'CANCELLED', 'EXPIRED', 'SKIPPED')
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

/** A failed workflow skipped the steps that had not started, on every branch: those are retried too. */
async function skippedByTheEnd(trx: Db, ids: readonly RunId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.task_run r JOIN q.workflow w ON w.id = r.workflow_id AND w.ends_as = 'FAILED' AND w.compensated_at IS NULL
    WHERE r.workflow_id = ANY(ARRAY(SELECT workflow_id FROM q.task_run WHERE id = ANY(${ids}::bigint[])))
      AND r.status = 'SKIPPED' AND r.result ->> 'code' = 'UPSTREAM_FAILED'`.execute(trx)
  return rows.map((row) => row.id)
}

/**
 * Reopens the workflows of these steps, and their sub-workflows, which are paused if the outer workflow is. The
 * sub-workflow of such a step is evaluated again, even if all its steps have succeeded.
 */
async function reopenWorkflows(trx: Db, ids: readonly RunId[], wakes: PendingWakes): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId; paused: boolean }>`
UPDATE q.workflow w SET status = CASE WHEN w.status = 'PAUSED' THEN w.status ELSE 'RUNNING' END, finished_at = NULL, result = NULL,
  ends_as = CASE WHEN w.compensated_at IS NULL THEN NULL ELSE w.ends_as END, updated_at = clock_timestamp()
WHERE w.id IN (SELECT workflow_id FROM q.task_run WHERE id = ANY(${ids}::bigint[]))
  OR w.parent_run_id = ANY(${ids}::bigint[]) AND w.status IN ('FAILED', 'CANCELLED') AND w.compensated_at IS NULL
RETURNING w.id, w.status = 'PAUSED' AS paused`.execute(trx)
  const paused = rows.filter((row) => row.paused).map((row) => row.id)
  if (paused.length > 0) await pauseAll(trx, paused, 'the workflow around it', wakes)
  return familyOf(
    trx,
    rows.map((row) => row.id),
  )
}

interface ReopenedItems {
  /** Steps that wait for no parent. */
  readonly free: readonly RunId[]
  /** Maps with a limit of open items. */
  readonly maps: readonly RunId[]
}

async function reopenRuns(trx: Db, ids: readonly RunId[]): Promise<ReopenedItems> {
  // Written in SQL: the success that only the run recorded moves to the history as the run starts again.
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
), ${reviewedByRetry(sql`reopened`)}, anew AS (
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
