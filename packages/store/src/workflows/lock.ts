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

/** As lockWorkflowsOf, but waits for nobody: those of the runs whose workflows are locked now, or are gone. */
async function lockFreeWorkflowsOf(trx: Db, runIds: readonly RunId[]): Promise<ReadonlySet<RunId>> {
  const { rows } = await sql<{ id: RunId }>`
WITH steps AS MATERIALIZED (
  SELECT r.id, coalesce(own.root_id, own.id) AS root FROM q.task_run r LEFT JOIN q.workflow own ON own.id = r.workflow_id
  WHERE r.id = ANY(${runIds}::bigint[])
), free AS MATERIALIZED (
  SELECT w.id FROM q.workflow w WHERE w.id = ANY(ARRAY(SELECT root FROM steps)) ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
)
SELECT id FROM steps WHERE root IS NULL OR root IN (SELECT id FROM free)`.execute(trx)
  return new Set(rows.map((row) => row.id))
}

/**
 * Work on steps that waits for a workflow no longer than a moment. If somebody keeps one locked, it is done for the steps
 * of the others, and those are left out.
 */
export async function withFreeWorkflows<Step extends { readonly runId: RunId }, Done>(
  db: Db,
  steps: readonly Step[],
  work: (trx: Db, steps: readonly Step[]) => Promise<Done[]>,
): Promise<Done[]> {
  const ids = steps.map((step) => step.runId)
  const onlyFree = async (trx: Db) => {
    const free = await lockFreeWorkflowsOf(trx, ids)
    return work(
      trx,
      steps.filter((step) => free.has(step.runId)),
    )
  }
  if (db.isTransaction) return onlyFree(db)
  const all = async (trx: Db) => {
    await lockWorkflowsOf(trx, ids)
    return work(trx, steps)
  }
  return (await patiently(db, all)) ?? (await patiently(db, onlyFree)) ?? []
}

/** Undefined: somebody was waited for too long, and nothing was done. */
async function patiently<Done>(db: Db, work: (trx: Db) => Promise<Done[]>): Promise<Done[] | undefined> {
  try {
    return await db.transaction().execute(async (trx) => {
      await limitLockWaits(trx)
      return work(trx)
    })
  } catch (error) {
    if (isLockTimeout(error)) return undefined
    throw error
  }
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
