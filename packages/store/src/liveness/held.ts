/**
 * Reads the holders of runs: the runs that a replica holds, for comparison with those it executes, and the holder of a
 * lease.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { Lease, RunId } from '../lease.ts'

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

export interface LeaseHolder {
  /** At least the fence of the lease. */
  readonly fence: number
  readonly replicaId: string | null
  readonly task: string
  readonly queue: string
  /** False: the run has ended under this lease. */
  readonly isHeld: boolean
  /** Whether its code was started under this lease and has not ended. */
  readonly isRunning: boolean
  /** How long ago it was started; null: it was not. */
  readonly ranMs: number | null
}

/** The last holder of the run, and its task. Undefined: no claim has given out the lease, or the run is gone. */
export function leaseHolder(db: Db, { runId, fence }: Lease): Promise<LeaseHolder | undefined> {
  return db
    .selectFrom('q.task_run as r')
    .innerJoin('q.lane', 'q.lane.id', 'r.lane')
    .select(['r.replica_id as replicaId', 'r.fence', 'r.task', 'q.lane.queue'])
    .select(sql<boolean>`r.held IS TRUE`.as('isHeld'))
    .select(sql<boolean>`r.status = 'RUNNING'`.as('isRunning'))
    .select(sql<number | null>`(extract(epoch FROM clock_timestamp() - r.started_at) * 1000)::float8`.as('ranMs'))
    .where('r.id', '=', runId)
    .where('r.fence', '>=', fence)
    .executeTakeFirst()
}
