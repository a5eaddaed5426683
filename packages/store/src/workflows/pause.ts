/**
 * RUNNING → PAUSED → RUNNING, of workflows
 *
 * Nothing new begins in a paused workflow: its steps wait at the gate `workflow`, between `parents` and the other gates.
 * What runs goes on; what it leads to waits too, and a run that comes back (retried, given back, recovered) comes back to
 * that gate. A paused workflow does not end, even if all its steps have: resuming it does. Workflows that are its steps
 * are paused and resumed with it.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { follow, leaveSteps } from './advance.ts'
import { familyOf, lockWorkflow } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { openSteps } from './open.ts'
import { newTidings, tell, type Tidings } from './tidings.ts'

/** `ending`: it has failed or was cancelled, and only waits for what still runs. */
export type PauseAnswer = 'paused' | 'already-paused' | 'ending' | 'already-ended' | 'not-found'
export type ResumeAnswer = 'resumed' | 'not-paused' | 'already-ended' | 'not-found'

export function pauseWorkflow(db: Db, id: WorkflowId, by: string): Promise<PauseAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status === 'PAUSED') return 'already-paused'
    if (workflow.status !== 'RUNNING') return 'already-ended'
    if (workflow.endsAs !== null) return 'ending'
    const tidings = newTidings()
    await pauseAll(trx, [id], by, tidings)
    await tell(trx, tidings)
    return 'paused'
  })
}

export function resumeWorkflow(db: Db, id: WorkflowId): Promise<ResumeAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status !== 'PAUSED' && workflow.status !== 'RUNNING') return 'already-ended'
    const tidings = newTidings()
    // One inside of it may be paused alone, by an error of its own.
    const resumed = await resumeAll(trx, [id])
    if (resumed.length === 0) return 'not-paused'
    const ended = await openSteps(trx, await heldBack(trx, resumed), tidings)
    await follow(trx, ended, await withoutOpenSteps(trx, resumed), tidings)
    await tell(trx, tidings)
    return 'resumed'
  })
}

/** The caller has locked them. */
export async function pauseAll(trx: Db, ids: readonly WorkflowId[], by: string, tidings: Tidings): Promise<void> {
  const { rows } = await sql<{ id: WorkflowId }>`
    UPDATE q.workflow SET status = 'PAUSED', paused_at = clock_timestamp(), paused_by = ${by}, updated_at = clock_timestamp()
    WHERE id = ANY(${await familyOf(trx, ids)}::bigint[]) AND status = 'RUNNING' AND ends_as IS NULL RETURNING id`.execute(
    trx,
  )
  await holdAllBack(
    trx,
    rows.map((row) => row.id),
    tidings,
  )
}

/** Whatever of these paused workflows has not begun. */
export async function holdAllBack(trx: Db, paused: readonly WorkflowId[], tidings: Tidings): Promise<void> {
  if (paused.length === 0) return
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE workflow_id = ANY(${paused}::bigint[]) AND finished_at IS NULL ORDER BY id`.execute(
    trx,
  )
  const open = rows.map((row) => row.id)
  // What is ready first: after that nothing of it can be claimed any more.
  await holdBack(trx, open, tidings)
  const claimed = open.map((runId) => ({ runId, fence: null, goal: 'PENDING', giveBack: true }) as const)
  const left = await leaveSteps(trx, ['CLAIMED'], claimed, tidings)
  await holdBack(
    trx,
    left.map((run) => run.id),
    tidings,
  )
}

/** Of these runs, those of paused workflows that could be claimed, now or soon, go to the gate `workflow`. */
export async function holdBack(trx: Db, ids: readonly RunId[], tidings: Tidings): Promise<void> {
  if (ids.length === 0) return
  // A whole statement by hand: a slot that was taken is free again, and its key is told.
  const { rows } = await sql<{ key: string | null }>`
WITH locked AS MATERIALIZED (
  SELECT r.id, r.concurrency_slot FROM q.task_run r JOIN q.workflow w ON w.id = r.workflow_id AND w.status = 'PAUSED'
  WHERE r.id = ANY(${ids}::bigint[]) AND (r.status = 'AVAILABLE' OR r.status = 'PENDING' AND r.waiting_for IN ('task', 'time', 'concurrency'))
  ORDER BY r.id FOR NO KEY UPDATE OF r
)
UPDATE q.task_run r SET status = 'PENDING', waiting_for = 'workflow', concurrency_slot = NULL, updated_at = clock_timestamp()
FROM locked WHERE r.id = locked.id
RETURNING CASE WHEN locked.concurrency_slot IS NOT NULL THEN r.concurrency_key END AS key`.execute(trx)
  for (const { key } of rows) if (key !== null) tidings.keys.add(key)
}

export async function resumeAll(trx: Db, ids: readonly WorkflowId[]): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
    UPDATE q.workflow SET status = 'RUNNING', paused_at = NULL, paused_by = NULL, updated_at = clock_timestamp()
    WHERE id = ANY(${await familyOf(trx, ids)}::bigint[]) AND status = 'PAUSED' RETURNING id`.execute(trx)
  return rows.map((row) => row.id)
}

export async function heldBack(trx: Db, ids: readonly WorkflowId[]): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE workflow_id = ANY(${ids}::bigint[]) AND status = 'PENDING' AND waiting_for = 'workflow'
    ORDER BY id`.execute(trx)
  return rows.map((row) => row.id)
}

export async function withoutOpenSteps(trx: Db, ids: readonly WorkflowId[]): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE id = ANY(${ids}::bigint[]) AND open_steps = 0 AND finished_at IS NULL ORDER BY id`.execute(
    trx,
  )
  return rows.map((row) => row.id)
}
