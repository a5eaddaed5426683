/**
 * Workflows that are to end: nothing more begins in them, nor in the workflows that are their steps
 *
 * What waits is SKIPPED or CANCELLED at once, what is claimed is CANCELLED, for what runs the wish is recorded. In this
 * order, because a run that is claimed or started meanwhile is met by the next one. Maps and workflow steps that have begun
 * wait for the end of their own; a workflow of which nothing is open, paused by its last error, ends at once. Compensations
 * are let be.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { requestCancel } from '../runs/cancel.ts'
import type { Left } from '../runs/leave.ts'
import { leaveSteps } from './advance.ts'
import { endWorkflows } from './end.ts'
import { familyOf } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { withoutOpenSteps } from './pause.ts'
import { leavingSkipped, upstream } from './release.ts'
import type { Tidings } from './tidings.ts'

/** Those that ended at once. */
export async function stopWorkflows(
  trx: Db,
  ids: readonly WorkflowId[],
  endsAs: 'FAILED' | 'CANCELLED',
  tidings: Tidings,
): Promise<Left[]> {
  if (ids.length === 0) return []
  const family = await familyOf(trx, ids)
  const inner = family.filter((id) => !ids.includes(id))
  await mark(trx, ids, endsAs)
  await mark(trx, inner, 'CANCELLED')
  const ended = endsAs === 'FAILED' ? await skipWaiting(trx, ids, tidings) : await cancelOpen(trx, ids, tidings)
  const cancelled = await cancelOpen(trx, inner, tidings)
  return [...ended, ...cancelled, ...(await endWorkflows(trx, await withoutOpenSteps(trx, family), tidings))]
}

async function mark(trx: Db, ids: readonly WorkflowId[], endsAs: string): Promise<void> {
  if (ids.length === 0) return
  await sql`UPDATE q.workflow SET ends_as = ${endsAs}::q.workflow_status, status = 'RUNNING', paused_at = NULL, paused_by = NULL,
      updated_at = clock_timestamp()
    WHERE id = ANY(${ids}::bigint[]) AND finished_at IS NULL AND ends_as IS NULL`.execute(trx)
}

async function skipWaiting(trx: Db, ids: readonly WorkflowId[], tidings: Tidings): Promise<Left[]> {
  const open = await openRuns(trx, ids)
  const skipped = open.map((id) => leavingSkipped(id, null, upstream.over))
  const ended = await leaveSteps(trx, ['PENDING', 'AVAILABLE'], skipped, tidings)
  return [...ended, ...(await cancelRuns(trx, open, 'Its workflow failed.', tidings))]
}

/** The caller has locked them. */
export async function cancelOpen(trx: Db, ids: readonly WorkflowId[], tidings: Tidings): Promise<Left[]> {
  return ids.length === 0 ? [] : cancelRuns(trx, await openRuns(trx, ids), 'Its workflow was cancelled.', tidings)
}

async function cancelRuns(trx: Db, ids: readonly RunId[], detail: string, tidings: Tidings): Promise<Left[]> {
  const result = JSON.stringify({ code: 'TASK_CANCELLED', detail })
  const leavings = ids.map((runId) => ({ runId, fence: null, goal: 'CANCELLED', result }) as const)
  const ended = [
    ...(await leaveSteps(trx, ['PENDING', 'AVAILABLE'], leavings, tidings)),
    ...(await leaveSteps(trx, ['CLAIMED'], leavings, tidings)),
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

/** A map or workflow step that was cancelled by itself takes with it what it waited for. */
export async function abandonChildren(trx: Db, ended: readonly Left[], tidings: Tidings): Promise<Left[]> {
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
  const stopped = ids.length === 0 ? [] : await cancelRuns(trx, ids, 'The map it is an item of was cancelled.', tidings)
  return [
    ...stopped,
    ...(await stopWorkflows(
      trx,
      inner.map((row) => row.id),
      'CANCELLED',
      tidings,
    )),
  ]
}
