/**
 * Holds the steps of paused workflows at the gate `workflow`, and finds what a resume must activate. The caller has
 * locked the workflows.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { familyOf } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import type { PendingWakes } from './pending-wakes.ts'
import { transitionSteps } from './transition-steps.ts'

/** Pauses workflows and their sub-workflows. */
export async function pauseAll(trx: Db, ids: readonly WorkflowId[], by: string, wakes: PendingWakes): Promise<void> {
  const { rows } = await sql<{ id: WorkflowId }>`
    UPDATE q.workflow SET status = 'PAUSED', paused_at = clock_timestamp(), paused_by = ${by}, updated_at = clock_timestamp()
    WHERE id = ANY(${await familyOf(trx, ids)}::bigint[]) AND status = 'RUNNING' AND ends_as IS NULL RETURNING id`.execute(
    trx,
  )
  await holdWorkflows(
    trx,
    rows.map((row) => row.id),
    wakes,
  )
}

/** Holds every step of these paused workflows that has not started. */
export async function holdWorkflows(trx: Db, paused: readonly WorkflowId[], wakes: PendingWakes): Promise<void> {
  if (paused.length === 0) return
  const { rows } = await sql<{ id: RunId }>`
    SELECT id FROM q.task_run WHERE workflow_id = ANY(${paused}::bigint[]) AND finished_at IS NULL ORDER BY id`.execute(
    trx,
  )
  const open = rows.map((row) => row.id)
  // AVAILABLE steps first: afterwards none of them can be claimed.
  await holdSteps(trx, open, wakes)
  const claimed = open.map((runId) => ({ runId, fence: null, goal: 'PENDING', refundAttempt: true }) as const)
  const changed = await transitionSteps(trx, ['CLAIMED'], claimed, wakes)
  await holdSteps(
    trx,
    changed.map((run) => run.id),
    wakes,
  )
}

/** Moves those of these runs that belong to a paused workflow and have not started to the gate `workflow`. */
export async function holdSteps(trx: Db, ids: readonly RunId[], wakes: PendingWakes): Promise<void> {
  if (ids.length === 0) return
  // Written in SQL: it frees the slots of the runs and returns their keys.
  const { rows } = await sql<{ key: string | null }>`
WITH locked AS MATERIALIZED (
  SELECT r.id, r.concurrency_slot FROM q.task_run r JOIN q.workflow w ON w.id = r.workflow_id AND w.status = 'PAUSED'
  WHERE r.id = ANY(${ids}::bigint[]) AND (r.status = 'AVAILABLE' OR r.status = 'PENDING' AND r.waiting_for IN ('task', 'time', 'concurrency'))
  ORDER BY r.id FOR NO KEY UPDATE OF r
)
UPDATE q.task_run r SET status = 'PENDING', waiting_for = 'workflow', concurrency_slot = NULL, updated_at = clock_timestamp()
FROM locked WHERE r.id = locked.id
RETURNING CASE WHEN locked.concurrency_slot IS NOT NULL THEN r.concurrency_key END AS key`.execute(trx)
  for (const { key } of rows) if (key !== null) wakes.keys.add(key)
}

export async function resumeAll(trx: Db, ids: readonly WorkflowId[]): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
    UPDATE q.workflow SET status = 'RUNNING', paused_at = NULL, paused_by = NULL, updated_at = clock_timestamp()
    WHERE id = ANY(${await familyOf(trx, ids)}::bigint[]) AND status = 'PAUSED' RETURNING id`.execute(trx)
  return rows.map((row) => row.id)
}

export async function heldSteps(trx: Db, ids: readonly WorkflowId[]): Promise<RunId[]> {
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
