/** The runs that a node holds, longest first, and what its drain would do to each. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'
import { resolvedOnCrash, type OnCrash } from '../../runs/on-crash.ts'
import { agoMs } from '../bounded.ts'
import { expectedEnd } from './expected-end.ts'

export interface HeldRunView {
  readonly id: RunId
  readonly task: string
  readonly status: 'CLAIMED' | 'RUNNING'
  readonly startedAt: Date | null
  /** Time since the start, or the claim. */
  readonly forMs: number
  readonly progress: number | null
  readonly note: string | null
  /** Estimated from the run's progress; null: unknown. */
  readonly expectedEndMs: number | null
  readonly cancelRequested: boolean
  readonly onCrash: OnCrash
  /** What happens to it at the deadline of a drain. */
  readonly atDeadline: 'released' | 'failed'
}

const heldMax = 500

export async function heldRuns(db: Db, replicaId: string): Promise<HeldRunView[]> {
  const { rows } = await sql<HeldRunView>`
SELECT run.*, CASE WHEN run.status = 'CLAIMED' OR n.drain_on_deadline = 'release' THEN 'released'
  WHEN n.drain_on_deadline = 'fail' OR run."onCrash" = 'fail' THEN 'failed' ELSE 'released' END AS "atDeadline"
FROM (
  SELECT r.id, r.task, r.status, r.started_at AS "startedAt", ${agoMs(sql`coalesce(r.started_at, r.claimed_at, r.updated_at)`)} AS "forMs",
    beat.progress, beat.note, -${agoMs(expectedEnd)} AS "expectedEndMs", r.cancel_requested_at IS NOT NULL AS "cancelRequested",
    ${resolvedOnCrash()} AS "onCrash"
  FROM q.task_run r
  LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.role = 'runner' AND beat.fence = r.fence
  WHERE r.held AND r.replica_id = ${replicaId}
) run LEFT JOIN q.replica n ON n.id = ${replicaId}
ORDER BY run."forMs" DESC, run.id LIMIT ${heldMax}::int`.execute(db)
  return rows
}
