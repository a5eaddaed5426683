/**
 * AVAILABLE → RUNNING, or → CLAIMED for runs that are claimed ahead
 *
 * Claim and start in one statement, for slots that are free now: the attempt is counted and RUNNING committed before
 * any code of the task begins. SKIP LOCKED makes replicas pass each other; the fence, raised here, makes this claim
 * different from every other one of the same run.
 *
 * Order: priority, then fair shares of queues and groups, then age. What there is to choose from is looked up before
 * (ready-heads.ts), how many of each is decided in memory (fair-shares.ts); the statement locks exactly so many and no
 * row more. Finished, gated and foreign runs cost nothing.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { RunId } from '../lease.ts'
import { prepared, type Prepared } from '../prepared.ts'
import { isInTime, isPaused, isReady } from './claimable.ts'
import type { FairShares, Quota, ReadyHead } from './fair-shares.ts'
import { resolvedOnCrash, type OnCrash } from './on-crash.ts'

export interface ClaimRequest {
  readonly replicaId: string
  /** Tasks this replica knows. */
  readonly tasks: readonly string[]
  /** Queues it works on; empty: all. A paused one is passed over. */
  readonly queues: readonly string[]
  /** Shares of queues; 1 unless said. */
  readonly queueWeights?: Readonly<Record<string, number>>
  /** What it can do; runs that require more are in lanes it does not look at. */
  readonly capabilities?: readonly string[]
  /** Claim only; `startTaskRuns` starts them later. */
  readonly ahead?: boolean
  /** Who was served so far, for those who claim few at a time: `createFairShares()`, kept by the caller. */
  readonly shares?: FairShares
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
  /** What happens if this replica dies while the run is RUNNING, as a reaper would resolve it. */
  readonly onCrash: OnCrash
  /** Attempts that ended by the holder's death: above 0 it is a suspect. */
  readonly crashCount: number
  /** Limits of its own; null: the task's. */
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** It has a concurrency key: another run may follow as soon as its holder is taken for dead. */
  readonly keyed: boolean
  /** It has a concurrency key or a workflow: others wait for its end, which takes the long way (settle.ts). */
  readonly gated: boolean
  /** It is a step of a workflow: results of other steps may belong into its payload (`stepPayloads`). */
  readonly step: boolean
  /** JSON text of what an earlier attempt saved, or null. */
  readonly checkpoint: string | null
}

export interface ClaimOrder {
  readonly replicaId: string
  readonly ahead: boolean
  readonly quotas: readonly Quota[]
}

/** With the head it was taken from. */
export type ClaimRow = ClaimedRun & Pick<ReadyHead, 'lane' | 'priority' | 'group'>

export function claimStatement({ replicaId, ahead, quotas }: ClaimOrder): CompiledQuery<ClaimRow> {
  return (ahead ? claimAhead : claimAndStart)({
    replicaId,
    lanes: quotas.map((quota) => quota.lane),
    priorities: quotas.map((quota) => quota.priority),
    groups: quotas.map((quota) => quota.group),
    runs: quotas.map((quota) => quota.runs),
  })
}

interface ClaimValues {
  readonly replicaId: string
  readonly lanes: readonly number[]
  readonly priorities: readonly number[]
  readonly groups: readonly string[]
  readonly runs: readonly number[]
}

const claimAndStart = claim('claim', sql`status = 'RUNNING', attempt = r.attempt + 1, started_at = clock_timestamp()`)
const claimAhead = claim('claim-ahead', sql`status = 'CLAIMED', started_at = NULL`)

// A whole statement by hand: LATERAL with FOR NO KEY UPDATE SKIP LOCKED inside it is clearer as SQL.
function claim(name: string, change: RawBuilder<unknown>): Prepared<ClaimValues, ClaimRow> {
  return prepared(
    name,
    ({ replicaId, lanes, priorities, groups, runs }) => sql<ClaimRow>`
WITH picked AS MATERIALIZED (
  SELECT locked.id
  FROM unnest(${lanes}::int[], ${priorities}::smallint[], ${groups}::text[], ${runs}::int[])
    AS quota(lane, priority, grp, runs)
  JOIN q.lane ON lane.id = quota.lane AND NOT ${isPaused}
  CROSS JOIN LATERAL (
    SELECT r.id FROM q.task_run r
    WHERE ${isReady} AND r.lane = quota.lane AND r.priority = quota.priority AND r.grp = quota.grp AND ${isInTime}
    ORDER BY r.run_at, r.id LIMIT quota.runs FOR NO KEY UPDATE SKIP LOCKED) locked
), claimed AS (
  UPDATE q.task_run r SET ${change}, fence = r.fence + 1, replica_id = ${replicaId}, claimed_at = clock_timestamp(),
    updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM picked))
  RETURNING r.id AS "runId", r.fence, r.task, r.payload::text AS payload, r.attempt, r.epoch, ${resolvedOnCrash(replicaId)} AS "onCrash",
    r.crash_count AS "crashCount", r.timeout_ms AS "timeoutMs", r.max_silent_ms AS "maxSilentMs",
    r.concurrency_key IS NOT NULL AS keyed, r.concurrency_key IS NOT NULL OR r.workflow_id IS NOT NULL AS gated,
    r.workflow_id IS NOT NULL AS step,
    r.checkpoint::text AS checkpoint,
    r.lane, r.priority, r.grp AS "group", r.run_at
)
SELECT "runId", fence, task, payload, attempt, epoch, "onCrash", "crashCount", "timeoutMs", "maxSilentMs", keyed, gated, step,
  checkpoint, lane, priority, "group"
FROM claimed ORDER BY run_at, "runId"`,
  )
}
