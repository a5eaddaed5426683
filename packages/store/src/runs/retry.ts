/**
 * SUCCEEDED | FAILED | CANCELLED | EXPIRED | SKIPPED → AVAILABLE | PENDING, on request of a person
 *
 * A new epoch: both counts begin again, the checkpoint and the history stay. The fence rises, so the old epoch can no
 * longer write. A run that never passed the gate `task` waits there again. A step of a workflow returns to the gate
 * `parents`: workflows/retry.ts. A run that failed because its replica died counts as reviewed.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { reviewedByRetry } from '../liveness/review.ts'
import { sqlState } from '../connection/sql-state.ts'
import { retryStep } from '../workflows/retry.ts'
import { promoteKeys } from './promote.ts'
import { wakesForReady } from './ready-wakes.ts'

export type RetryAnswer =
  | 'retried'
  /** The run still waits or runs. */
  | 'not-ended'
  /** A step of a workflow that has failed or was cancelled, and waits for what still runs. */
  | 'ending'
  /** A step of a workflow whose compensation has begun. */
  | 'compensated'
  /** Another live run of the task has its unique key. */
  | 'conflict'
  | 'not-found'

export async function retryTaskRun(db: Db, runId: RunId): Promise<RetryAnswer> {
  const answer = await reopen(db, [runId]).catch((error: unknown) => {
    if (sqlState(error) === '23505') return 'conflict' as const
    throw error
  })
  if (answer === 'conflict') return answer
  const [run] = answer
  if (run === undefined) return 'not-found'
  if (run.isStep) return retryStep(db, runId)
  if (run.reopened && run.key !== null) await promoteKeys(db, [run.key])
  return run.reopened ? 'retried' : 'not-ended'
}

/**
 * Retries many runs at once, in a transaction that has locked the workflows of those that are steps. Returns one answer
 * per id, in the order given. It throws if another live run has one of the unique keys. `keys` are to be promoted after
 * the commit.
 */
export async function retryInTransaction(
  trx: Db,
  ids: readonly RunId[],
): Promise<{ answers: RetryAnswer[]; keys: string[] }> {
  const runs = new Map((await reopen(trx, ids)).map((run) => [run.id, run]))
  const answers: RetryAnswer[] = []
  for (const id of ids) {
    const run = runs.get(id)
    if (run === undefined) answers.push('not-found')
    else if (run.isStep) answers.push(await retryStep(trx, id))
    else answers.push(run.reopened ? 'retried' : 'not-ended')
  }
  const keys = [...runs.values()].flatMap(({ reopened, key }) => (reopened && key !== null ? key : []))
  return { answers, keys: [...new Set(keys)] }
}

interface ReopenedRun {
  readonly id: RunId
  readonly reopened: boolean
  readonly key: string | null
  /** Its workflow has to be locked first: workflows/retry.ts. */
  readonly isStep: boolean
}

async function reopen(db: Db, ids: readonly RunId[]): Promise<ReopenedRun[]> {
  // Written in SQL: a success, which is stored in the run alone, moves to the history as the run begins again.
  const { rows } = await sql<ReopenedRun>`
WITH ended AS MATERIALIZED (
  SELECT * FROM q.task_run WHERE id = ANY(${ids}::bigint[]) AND finished_at IS NOT NULL AND workflow_id IS NULL
  ORDER BY id FOR NO KEY UPDATE
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
), ${reviewedByRetry(sql`reopened`)}, ready AS (
  SELECT lane FROM reopened WHERE status = 'AVAILABLE'
), ${wakesForReady(sql`ready`)}
SELECT r.id, reopened.id IS NOT NULL AS reopened, reopened.concurrency_key AS key, r.workflow_id IS NOT NULL AS "isStep"
FROM q.task_run r LEFT JOIN reopened USING (id) LEFT JOIN announced ON true WHERE r.id = ANY(${ids}::bigint[])`.execute(
    db,
  )
  return rows
}
