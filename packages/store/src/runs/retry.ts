/**
 * SUCCEEDED | FAILED | CANCELLED | EXPIRED | SKIPPED → AVAILABLE | PENDING, by hand
 *
 * A new epoch: both counts begin again, the checkpoint and the history stay. The fence rises, so nothing of the old
 * epoch can be written any more. A run that never passed the gate `task` waits there again. A step of a workflow goes back
 * to its parents' gate: workflows/retry.ts.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { sqlState } from '../sql-state.ts'
import { retryStep } from '../workflows/retry.ts'
import { promoteKeys } from './promote.ts'
import { wakesForReady } from './ready-wakes.ts'

export type RetryAnswer =
  | 'retried'
  /** Still waiting or running. */
  | 'not-ended'
  /** A step of a workflow that has failed or was cancelled, and waits for what still runs. */
  | 'ending'
  /** A step of a workflow whose compensation has begun. */
  | 'compensated'
  /** Another live run of the task has its unique key. */
  | 'conflict'
  | 'not-found'

export async function retryTaskRun(db: Db, runId: RunId): Promise<RetryAnswer> {
  const answer = await reopen(db, runId).catch((error: unknown) => {
    if (sqlState(error) === '23505') return 'conflict' as const
    throw error
  })
  if (answer === 'conflict' || answer === undefined) return answer ?? 'not-found'
  if (answer.isStep) return retryStep(db, runId)
  if (answer.reopened && answer.key !== null) await promoteKeys(db, [answer.key])
  return answer.reopened ? 'retried' : 'not-ended'
}

interface Reopened {
  readonly reopened: boolean
  readonly key: string | null
  /** Its workflow has to be locked first: workflows/retry.ts. */
  readonly isStep: boolean
}

async function reopen(db: Db, runId: RunId): Promise<Reopened | undefined> {
  // A whole statement by hand: the success that lived in the run alone moves to the history as the run begins again.
  const { rows } = await sql<Reopened>`
WITH ended AS MATERIALIZED (
  SELECT * FROM q.task_run WHERE id = ${runId} AND finished_at IS NOT NULL AND workflow_id IS NULL FOR NO KEY UPDATE
), kept AS (
  INSERT INTO q.task_attempt (run_id, fence, epoch, attempt, started_at, ended_at, outcome, replica_id)
  SELECT id, fence, epoch, attempt, started_at, finished_at, 'succeeded', replica_id FROM ended
  WHERE status = 'SUCCEEDED' AND replica_id IS NOT NULL
  ON CONFLICT DO NOTHING
), reopened AS (
  UPDATE q.task_run r SET
    status = CASE WHEN r.asked IS NULL AND r.concurrency_key IS NULL THEN 'AVAILABLE' ELSE 'PENDING' END::q.task_status,
    waiting_for = CASE WHEN r.asked IS NOT NULL THEN 'task' WHEN r.concurrency_key IS NOT NULL THEN 'concurrency' END,
    epoch = r.epoch + 1, fence = r.fence + 1, attempt = 0, crash_count = 0, result = NULL, replica_id = NULL,
    claimed_at = NULL, started_at = NULL, finished_at = NULL, cancel_requested_at = NULL, expires_at = NULL,
    run_at = clock_timestamp(), updated_at = clock_timestamp()
  FROM ended WHERE r.id = ended.id
  RETURNING r.id, r.concurrency_key, r.lane, r.status
), ready AS (
  SELECT lane FROM reopened WHERE status = 'AVAILABLE'
), ${wakesForReady(sql`ready`)}
SELECT reopened.id IS NOT NULL AS reopened, reopened.concurrency_key AS key, r.workflow_id IS NOT NULL AS "isStep"
FROM q.task_run r LEFT JOIN reopened USING (id) LEFT JOIN announced ON true WHERE r.id = ${runId}`.execute(db)
  return rows[0]
}
