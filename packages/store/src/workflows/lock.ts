/**
 * Who changes steps locks the row of their outermost workflow first, in the order of ids; then runs, in the order of
 * theirs. So whatever happens to the steps of one workflow happens one after the other, and nobody waits in a circle.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { limitLockWaits } from '../runs/promote.ts'
import { isLockTimeout } from '../sql-state.ts'
import type { WorkflowId } from './new-workflow.ts'

/** Locks the workflows these runs are steps of. */
export async function lockWorkflowsOf(trx: Db, runIds: readonly RunId[]): Promise<void> {
  await sql`SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(
      SELECT coalesce(own.root_id, own.id) FROM q.task_run r JOIN q.workflow own ON own.id = r.workflow_id
      WHERE r.id = ANY(${runIds}::bigint[])))
    ORDER BY w.id FOR NO KEY UPDATE OF w`.execute(trx)
}

/**
 * For those who do not wait long: works on these steps with their workflows locked. If that takes too long, on those
 * whose workflows nobody else has: a locked one does not hold up the others. In a transaction of the caller's nobody is waited for.
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

/** Locks those that nobody else has. The runs that are steps of them, or whose workflow is gone. */
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

/** Locks the workflow, with all that it is part of and that is part of it; undefined: there is none. */
export async function lockWorkflow(trx: Db, id: WorkflowId): Promise<LockedWorkflow | undefined> {
  await sql`SELECT w.id FROM q.workflow w WHERE w.id = (SELECT coalesce(own.root_id, own.id) FROM q.workflow own WHERE own.id = ${id})
    FOR NO KEY UPDATE OF w`.execute(trx)
  const { rows } = await sql<LockedWorkflow>`
    SELECT id, status, ends_as AS "endsAs" FROM q.workflow WHERE id = ${id}`.execute(trx)
  return rows[0]
}

/** The workflow and those that are steps of it, however deep; not those inside of one that was undone, which are done with. */
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
