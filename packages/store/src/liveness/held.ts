/** Returns the runs that a replica holds according to the database, for comparison with those it executes. */
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface HeldRun {
  readonly runId: RunId
  readonly fence: number
  readonly status: 'CLAIMED' | 'RUNNING'
}

export async function heldTaskRuns(db: Db, replicaId: string): Promise<HeldRun[]> {
  const rows = await db
    .selectFrom('q.task_run')
    .select(['id as runId', 'fence', 'status'])
    .where('held', '=', true)
    .where('replica_id', '=', replicaId)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, runId: row.runId as RunId, status: row.status as HeldRun['status'] }))
}
