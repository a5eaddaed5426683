/**
 * Stops workflows that are to end: no further step starts in them or in their sub-workflows
 *
 * Waiting steps become SKIPPED or CANCELLED at once, then CLAIMED steps become CANCELLED, then running steps are asked to
 * stop. In this order, a run that is claimed or started in the meantime is caught by the next statement. Maps and
 * sub-workflow steps that have begun wait for the end of their own steps; those that a pause held after that end now. A
 * workflow without open steps, paused by its last error, ends at once. Compensations continue.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { requestCancel } from '../runs/request-cancel.ts'
import type { Transitioned } from '../runs/transition.ts'
import { activateSteps } from './activate-steps.ts'
import { transitionSteps } from './transition-steps.ts'
import { endWorkflows } from './end.ts'
import { familyOf } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { heldSteps, withoutOpenSteps } from './hold-steps.ts'
import { skipTransition, upstream } from './release.ts'
import type { PendingWakes } from './pending-wakes.ts'

/** Returns the steps that ended at once. */
export async function stopWorkflows(
  trx: Db,
  ids: readonly WorkflowId[],
  endsAs: 'FAILED' | 'CANCELLED',
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  if (ids.length === 0) return []
  const family = await familyOf(trx, ids)
  const inner = family.filter((id) => !ids.includes(id))
  await mark(trx, ids, endsAs)
  await mark(trx, inner, 'CANCELLED')
  const ended = endsAs === 'FAILED' ? await skipWaiting(trx, ids, wakes) : await cancelOpen(trx, ids, wakes)
  const cancelled = await cancelOpen(trx, inner, wakes)
  const held = await activateSteps(trx, await heldSteps(trx, family), wakes)
  return [...ended, ...cancelled, ...held, ...(await endWorkflows(trx, await withoutOpenSteps(trx, family), wakes))]
}

async function mark(trx: Db, ids: readonly WorkflowId[], endsAs: string): Promise<void> {
  if (ids.length === 0) return
  await sql`UPDATE q.workflow SET ends_as = ${endsAs}::q.workflow_status, status = 'RUNNING', paused_at = NULL, paused_by = NULL,
      updated_at = clock_timestamp()
    WHERE id = ANY(${ids}::bigint[]) AND finished_at IS NULL AND ends_as IS NULL`.execute(trx)
}

async function skipWaiting(trx: Db, ids: readonly WorkflowId[], wakes: PendingWakes): Promise<Transitioned[]> {
  const open = await openRuns(trx, ids)
  const skipped = open.map((id) => skipTransition(id, null, upstream.over))
  const ended = await transitionSteps(trx, ['PENDING', 'AVAILABLE'], skipped, wakes)
  return [...ended, ...(await cancelRuns(trx, open, 'Its workflow failed.', wakes))]
}

/** The caller has locked the workflows. */
export async function cancelOpen(trx: Db, ids: readonly WorkflowId[], wakes: PendingWakes): Promise<Transitioned[]> {
  return ids.length === 0 ? [] : cancelRuns(trx, await openRuns(trx, ids), 'Its workflow was cancelled.', wakes)
}

async function cancelRuns(
  trx: Db,
  ids: readonly RunId[],
  detail: string,
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  const result = JSON.stringify({ code: 'TASK_CANCELLED', detail })
  const transitions = ids.map((runId) => ({ runId, fence: null, goal: 'CANCELLED', result }) as const)
  const ended = [
    ...(await transitionSteps(trx, ['PENDING', 'AVAILABLE'], transitions, wakes)),
    ...(await transitionSteps(trx, ['CLAIMED'], transitions, wakes)),
  ]
  await requestCancel(trx, ids, { steps: true })
  return ended
}

async function openRuns(trx: Db, ids: readonly WorkflowId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
    WHERE r.workflow_id = ANY(${ids}::bigint[]) AND r.finished_at IS NULL AND NOT s.expanded AND s.kind <> 'compensation'
    ORDER BY r.id`.execute(trx)
  return rows.map((row) => row.id)
}

/** Cancels the items or the sub-workflow of a structural step that was itself cancelled. */
export async function abandonChildren(
  trx: Db,
  ended: readonly Transitioned[],
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  const cancelled = ended.filter(({ was, status }) => was === 'PENDING' && status === 'CANCELLED').map((run) => run.id)
  if (cancelled.length === 0) return []
  const { rows: items } = await sql<{ id: RunId }>`
    SELECT r.id FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id
    WHERE s.item_of = ANY(${cancelled}::bigint[]) AND r.finished_at IS NULL ORDER BY r.id`.execute(trx)
  const { rows: inner } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE parent_run_id = ANY(${cancelled}::bigint[]) AND finished_at IS NULL ORDER BY id`.execute(
    trx,
  )
  const ids = items.map((row) => row.id)
  const stopped = ids.length === 0 ? [] : await cancelRuns(trx, ids, 'The map it is an item of was cancelled.', wakes)
  return [
    ...stopped,
    ...(await stopWorkflows(
      trx,
      inner.map((row) => row.id),
      'CANCELLED',
      wakes,
    )),
  ]
}
