/**
 * Locks: a transaction that changes steps first locks the rows of their outermost workflows, in the order of ids, then
 * runs, in the order of their ids. So changes to the steps of one workflow are serialized, and no two transactions
 * deadlock.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { limitLockWaits } from '../runs/promote.ts'
import { isLockTimeout } from '../connection/sql-state.ts'
import type { WorkflowId } from './new-workflow.ts'

/** Locks the workflows of these steps. */
export async function lockWorkflowsOf(trx: Db, runIds: readonly RunId[]): Promise<void> {
  await sql`SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(
      SELECT coalesce(own.root_id, own.id) FROM q.task_run r JOIN q.workflow own ON own.id = r.workflow_id
      WHERE r.id = ANY(${runIds}::bigint[])))
    ORDER BY w.id FOR NO KEY UPDATE OF w`.execute(trx)
}

/**
 * Works on these steps with their workflows locked, for callers that must not wait long. If the locks take too long, it
 * works only on steps whose workflows are free: a locked workflow does not delay the others. In a caller's transaction
 * it never waits.
 */
export async function withWorkflowsLocked<T>(
  db: Db,
  runIds: readonly RunId[],
  work: (trx: Db, steps: ReadonlySet<RunId>) => Promise<T[]>,
): Promise<T[]> {
  const all = async (trx: Db): Promise<ReadonlySet<RunId>> => {
    await lockWorkflowsOf(trx, runIds)
    return new Set(runIds)
  }
  if (db.isTransaction) return work(db, await lockFreeWorkflowsOf(db, runIds))
  for (const lock of [all, (trx: Db) => lockFreeWorkflowsOf(trx, runIds)]) {
    try {
      return await db.transaction().execute(async (trx) => {
        await limitLockWaits(trx)
        return work(trx, await lock(trx))
      })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
  }
  return []
}

/** Locks the workflows that are free. Returns the runs that are steps of them, or whose workflow no longer exists. */
async function lockFreeWorkflowsOf(trx: Db, runIds: readonly RunId[]): Promise<ReadonlySet<RunId>> {
  const { rows } = await sql<{ id: RunId }>`
WITH free AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(
    SELECT coalesce(own.root_id, own.id) FROM q.task_run r JOIN q.workflow own ON own.id = r.workflow_id
    WHERE r.id = ANY(${runIds}::bigint[])))
  ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
)
SELECT r.id FROM q.task_run r LEFT JOIN q.workflow own ON own.id = r.workflow_id
WHERE r.id = ANY(${runIds}::bigint[]) AND (own.id IS NULL OR coalesce(own.root_id, own.id) IN (SELECT id FROM free))`.execute(
    trx,
  )
  return new Set(rows.map((row) => row.id))
}

export type WorkflowStatus = 'RUNNING' | 'PAUSED' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'

export interface LockedWorkflow {
  readonly id: WorkflowId
  readonly status: WorkflowStatus
  readonly endsAs: 'FAILED' | 'CANCELLED' | null
}

/** Locks the workflow with its outer and sub-workflows. Returns undefined if it does not exist. */
export async function lockWorkflow(trx: Db, id: WorkflowId): Promise<LockedWorkflow | undefined> {
  await sql`SELECT w.id FROM q.workflow w WHERE w.id = (SELECT coalesce(own.root_id, own.id) FROM q.workflow own WHERE own.id = ${id})
    FOR NO KEY UPDATE OF w`.execute(trx)
  const { rows } = await sql<LockedWorkflow>`
    SELECT id, status, ends_as AS "endsAs" FROM q.workflow WHERE id = ${id}`.execute(trx)
  return rows[0]
}

/** Returns the workflows and their sub-workflows at any depth, except those inside compensated ones, which have ended. */
export async function familyOf(trx: Db, ids: readonly WorkflowId[]): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
WITH RECURSIVE family AS (
  SELECT id, compensated_at FROM q.workflow WHERE id = ANY(${ids}::bigint[])
  UNION
  SELECT w.id, w.compensated_at FROM family JOIN q.task_run r ON r.workflow_id = family.id AND r.task = 'q.workflow'
    JOIN q.workflow w ON w.parent_run_id = r.id
  WHERE family.compensated_at IS NULL
) SELECT id FROM family ORDER BY id`.execute(trx)
  return rows.map((row) => row.id)
}
