/**
 * Reads all attempts of a run, oldest first: a running attempt and a successful one are in the run itself, the others in
 * q.task_attempt.
 */
import { sql } from 'kysely'
import type { Db } from '../../connection/db.ts'
import type { RunId } from '../../lease.ts'

export interface RunAttempt {
  readonly epoch: number
  /** The fence of the claim that it belongs to. */
  readonly fence: number
  readonly attempt: number
  readonly outcome: 'running' | 'succeeded' | 'failed' | 'cancelled' | 'crashed' | 'released' | 'retried' | 'snoozed'
  readonly code: string | null
  readonly detail: string | null
  readonly startedAt: Date | null
  /** Null while the attempt runs. */
  readonly endedAt: Date | null
  readonly replicaId: string
  /** The name of the replica, while its row is kept. */
  readonly replicaName: string | null
  readonly hostname: string | null
  readonly pid: number | null
  readonly thread: number | null
}

export async function runAttempts(db: Db, id: RunId): Promise<RunAttempt[]> {
  // Written in SQL: history and run as one list.
  const { rows } = await sql<RunAttempt>`
WITH attempts AS (
  SELECT epoch, fence, attempt, outcome, code, detail, started_at, ended_at, replica_id, hostname, pid, thread
  FROM q.task_attempt WHERE run_id = ${id}
  UNION ALL
  SELECT r.epoch, r.fence, r.attempt, lower(r.status::text), NULL, NULL, r.started_at, r.finished_at, r.replica_id,
    NULL, NULL, NULL
  FROM q.task_run r WHERE r.id = ${id} AND r.status IN ('RUNNING', 'SUCCEEDED') AND r.replica_id IS NOT NULL
)
SELECT a.epoch, a.fence, a.attempt, a.outcome, a.code, a.detail, a.started_at AS "startedAt", a.ended_at AS "endedAt",
  a.replica_id AS "replicaId", n.name AS "replicaName", coalesce(a.hostname, n.hostname) AS hostname,
  coalesce(a.pid, n.pid) AS pid, a.thread
FROM attempts a LEFT JOIN q.replica n ON n.id = a.replica_id
ORDER BY a.fence`.execute(db)
  return rows
}
