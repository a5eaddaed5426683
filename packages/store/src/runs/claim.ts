/**
 * AVAILABLE → RUNNING, or → CLAIMED for runs that are claimed ahead
 *
 * Claim and start in one statement, for slots that are free now: the attempt is counted and RUNNING committed before
 * any code of the task begins. SKIP LOCKED makes replicas pass each other; the fence, raised here, makes this claim
 * different from every other one of the same run.
 *
 * Order: priority, then round robin over groups, then age. The (lane, priority, group) combinations that have ready
 * runs are found by a loose scan of the ready index, so finished, gated and foreign runs cost nothing; `quota` says how
 * many of each are next; `picked` locks exactly so many and no row more.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { isCapable, isInTime, isKnownTask, isPaused, isReady, isWorkedOn } from './claimable.ts'

export interface ClaimRequest {
  readonly replicaId: string
  /** Tasks this replica knows. */
  readonly tasks: readonly string[]
  /** Queues it works on; empty: all. A paused one is passed over. */
  readonly queues: readonly string[]
  /** What it can do; runs that require more are in lanes it does not look at. */
  readonly capabilities?: readonly string[]
  /** Claim only; `startTaskRuns` starts them later. */
  readonly ahead?: boolean
  /** Never more than this many: the free slots. */
  readonly limit: number
}

export interface ClaimedRun {
  readonly runId: RunId
  readonly fence: number
  readonly task: string
  /** JSON text: parsed in the worker, not here. */
  readonly payload: string
  readonly attempt: number
  readonly epoch: number
  readonly onCrash: 'fail' | 'retry' | null
  /** JSON text of what an earlier attempt saved, or null. */
  readonly checkpoint: string | null
}

/** In the order they are to be started. */
export async function claimAvailableTaskRuns(db: Db, request: ClaimRequest): Promise<ClaimedRun[]> {
  if (request.limit < 1 || request.tasks.length === 0) return []
  return (await claimStatement(request).execute(db)).rows
}

// A whole statement by hand: recursive LATERAL and FOR NO KEY UPDATE SKIP LOCKED inside it are clearer as SQL.
export function claimStatement(request: ClaimRequest): RawBuilder<ClaimedRun> {
  const { replicaId, tasks, queues, limit, capabilities = [], ahead = false } = request
  return sql<ClaimedRun>`
WITH lanes AS MATERIALIZED (
  SELECT id AS lane FROM q.lane
  WHERE ${isKnownTask(texts(tasks))} AND ${isCapable(texts(capabilities))} AND ${isWorkedOn(texts(queues))} AND NOT ${isPaused}
), heads AS MATERIALIZED (
  SELECT lanes.lane, found.priority, found.grp
  FROM lanes CROSS JOIN LATERAL (
    WITH RECURSIVE head AS (
      (SELECT r.priority, r.grp FROM q.task_run r
       WHERE ${isReady} AND r.lane = lanes.lane
       ORDER BY r.priority, r.grp LIMIT 1)
      UNION ALL
      SELECT next.priority, next.grp FROM head CROSS JOIN LATERAL (
        SELECT r.priority, r.grp FROM q.task_run r
        WHERE ${isReady} AND r.lane = lanes.lane AND (r.priority, r.grp) > (head.priority, head.grp)
        ORDER BY r.priority, r.grp LIMIT 1) next
    ) SELECT priority, grp FROM head) found
), quota AS MATERIALIZED (
  SELECT lane, priority, grp, count(*) AS runs FROM (
    SELECT heads.lane, heads.priority, heads.grp
    FROM heads CROSS JOIN LATERAL (
      SELECT r.run_at, r.id, row_number() OVER (ORDER BY r.run_at, r.id) AS round FROM q.task_run r
      WHERE ${isReady} AND r.lane = heads.lane AND r.priority = heads.priority AND r.grp = heads.grp AND ${isInTime}
      ORDER BY r.run_at, r.id LIMIT ${limit}) ahead
    ORDER BY heads.priority, ahead.round, ahead.run_at, ahead.id LIMIT ${limit}) next
  GROUP BY lane, priority, grp
), picked AS MATERIALIZED (
  SELECT locked.id FROM quota CROSS JOIN LATERAL (
    SELECT r.id FROM q.task_run r
    WHERE ${isReady} AND r.lane = quota.lane AND r.priority = quota.priority AND r.grp = quota.grp
      AND ${isInTime}
    ORDER BY r.run_at, r.id LIMIT quota.runs FOR NO KEY UPDATE SKIP LOCKED) locked
), claimed AS (
  UPDATE q.task_run SET
    status = CASE WHEN ${ahead} THEN 'CLAIMED' ELSE 'RUNNING' END::q.task_status,
    attempt = attempt + CASE WHEN ${ahead} THEN 0 ELSE 1 END,
    started_at = CASE WHEN ${ahead} THEN NULL ELSE clock_timestamp() END,
    fence = fence + 1, replica_id = ${replicaId}, claimed_at = clock_timestamp(), updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM picked))
  RETURNING id, fence, task, payload, attempt, epoch, on_crash, checkpoint, priority, run_at
)
SELECT id AS "runId", fence, task, payload::text AS payload, attempt, epoch, on_crash AS "onCrash", checkpoint::text AS checkpoint
FROM claimed ORDER BY priority, run_at, id`
}

function texts(values: readonly string[]): RawBuilder<readonly string[]> {
  return sql<readonly string[]>`${values}::text[]`
}
