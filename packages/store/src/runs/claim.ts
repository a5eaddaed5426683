/**
 * AVAILABLE → RUNNING, or → CLAIMED for runs that are claimed ahead
 *
 * Claims and starts in one statement, for slots that are free now: the attempt is counted and RUNNING committed before
 * any code of the task begins. SKIP LOCKED lets replicas claim side by side; the raised fence distinguishes this claim
 * from every other claim of the same run.
 *
 * Order: priority, then fair shares of queues and groups, then age. claim-candidates.ts finds the candidates first,
 * fair-shares.ts decides in memory how many runs of each to take, and the statement locks exactly that many rows.
 * Finished, gated and foreign runs cost nothing.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import type { RunId } from '../lease.ts'
import { prepared, type Prepared } from '../connection/prepared.ts'
import { isInTime, isPaused, isReady } from './claimable.ts'
import type { FairShares, Quota, Candidate } from './fair-shares.ts'
import { resolvedOnCrash, type OnCrash } from './on-crash.ts'
import { firstCursor } from './claim-cursors.ts'
import { nextAttempt } from './start.ts'
import { traceOfRun } from './trace-of-run.ts'

export interface ClaimRequest {
  readonly replicaId: string
  /** Tasks that this replica knows. */
  readonly tasks: readonly string[]
  /** Queues that the replica works on; empty: all. Skips paused queues. */
  readonly queues: readonly string[]
  /** Shares of queues; 1 by default. */
  readonly queueWeights?: Readonly<Record<string, number>>
  /** Capabilities of the replica. Runs that require more are in lanes that it does not read. */
  readonly capabilities?: readonly string[]
  /** Claims only; `startTaskRuns` starts the runs later. */
  readonly prefetch?: boolean
  /**
   * How far each queue and group has been served, for replicas that claim a few runs at a time: `createFairShares()`,
   * kept by the caller.
   */
  readonly shares?: FairShares
  /** Whether to read the trace contexts of the runs. */
  readonly traces?: boolean
  /** The number of free slots; never claims more. */
  readonly limit: number
}

export interface ClaimedRun {
  readonly runId: RunId
  readonly fence: number
  readonly task: string
  readonly queue: string
  /** Time from due to claimed. The wait of a retry includes its backoff. */
  readonly waitMs: number
  /** JSON text, which the worker parses. */
  readonly payload: string
  readonly attempt: number
  readonly epoch: number
  /** What happens if this replica dies while the run is RUNNING, as a reaper would resolve it. */
  readonly onCrash: OnCrash
  /** Attempts that ended with the holder's death. Above 0, the run is a suspect. */
  readonly crashCount: number
  /** Limits of the run itself; null: those of the task. */
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** Whether it has a concurrency key: another run may follow as soon as its holder is considered dead. */
  readonly keyed: boolean
  /**
   * Whether it has a concurrency key or a workflow: other runs wait for its end, so the full transition settles it
   * (settle.ts).
   */
  readonly gated: boolean
  /** Whether it is a step of a workflow: its payload may contain results of other steps (`stepPayloads`). */
  readonly step: boolean
  /** JSON text that an earlier attempt saved, or null. */
  readonly checkpoint: string | null
  /** The trace context of its enqueue, or of its workflow's start. Undefined: the claim did not ask for it. */
  readonly trace?: string | null
}

export interface ClaimOrder {
  readonly replicaId: string
  readonly prefetch: boolean
  readonly quotas: readonly Quota[]
  /** Whether to read trace contexts. */
  readonly traces?: boolean
}

/** A claimed run with the candidate it was taken from. */
export interface ClaimRow extends ClaimedRun, Pick<Candidate, 'lane' | 'priority' | 'group'> {
  /** As JSON text, exact to the microsecond; null: the claim had no cursors. */
  readonly runAt: string | null
}

export function claimStatement({ replicaId, prefetch, quotas, traces }: ClaimOrder): CompiledQuery<ClaimRow> {
  const { ahead, started } = traces === true ? tracedClaims : claims
  return (prefetch ? ahead : started)({
    replicaId,
    lanes: quotas.map((quota) => quota.lane),
    priorities: quotas.map((quota) => quota.priority),
    groups: quotas.map((quota) => quota.group),
    runs: quotas.map((quota) => quota.runs),
    fromTimes: quotas.map(({ from = firstCursor }) => from.runAt),
    fromIds: quotas.map(({ from = firstCursor }) => from.id),
    cursors: quotas.some(({ from }) => from !== undefined),
  })
}

interface ClaimValues {
  readonly replicaId: string
  readonly lanes: readonly number[]
  readonly priorities: readonly number[]
  readonly groups: readonly string[]
  readonly runs: readonly number[]
  readonly fromTimes: readonly string[]
  readonly fromIds: readonly string[]
  readonly cursors: boolean
}

const start = sql`status = 'RUNNING', attempt = ${nextAttempt}, started_at = clock_timestamp()`
const claimAhead = sql`status = 'CLAIMED', started_at = NULL`
const claims = { started: claim('claim', start), ahead: claim('claim-prefetched', claimAhead) }

/** By epochs, as before version 17 PostgreSQL cannot subtract an infinite time; a run that SQL parks in the future has not waited. */
const waited = sql`greatest(0, (extract(epoch FROM r.claimed_at) - extract(epoch FROM greatest(r.run_at, r.created_at))) * 1000)::float8`

const trace = { read: sql`, ${traceOfRun} AS trace`, selected: sql`, trace` }
/** For replicas whose threads record spans; the others do not pay for it. */
const tracedClaims = {
  started: claim('claim-traced', start, trace),
  ahead: claim('claim-prefetched-traced', claimAhead, trace),
}

// Written in SQL: LATERAL with FOR NO KEY UPDATE SKIP LOCKED inside it is clearer as SQL.
function claim(
  name: string,
  change: RawBuilder<unknown>,
  more: { readonly read: RawBuilder<unknown>; readonly selected: RawBuilder<unknown> } = {
    read: sql``,
    selected: sql``,
  },
): Prepared<ClaimValues, ClaimRow> {
  return prepared(
    name,
    ({ replicaId, lanes, priorities, groups, runs, fromTimes, fromIds, cursors }) => sql<ClaimRow>`
WITH picked AS MATERIALIZED (
  SELECT locked.id
  FROM unnest(${lanes}::int[], ${priorities}::smallint[], ${groups}::text[], ${runs}::int[],
      ${fromTimes}::timestamptz[], ${fromIds}::bigint[])
    AS quota(lane, priority, grp, runs, from_run_at, from_id)
  JOIN q.lane ON lane.id = quota.lane AND NOT ${isPaused}
  CROSS JOIN LATERAL (
    SELECT r.id FROM q.task_run r
    WHERE ${isReady} AND r.lane = quota.lane AND r.priority = quota.priority AND r.grp = quota.grp
      AND (r.run_at, r.id) >= (quota.from_run_at, quota.from_id) AND ${isInTime}
    ORDER BY r.run_at, r.id LIMIT quota.runs FOR NO KEY UPDATE SKIP LOCKED) locked
), claimed AS (
  UPDATE q.task_run r SET ${change}, fence = r.fence + 1, replica_id = ${replicaId}, claimed_at = clock_timestamp(),
    updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM picked))
  RETURNING r.id AS "runId", r.fence, r.task, r.payload::text AS payload, r.attempt, r.epoch, ${resolvedOnCrash(replicaId)} AS "onCrash",
    r.crash_count AS "crashCount", r.timeout_ms AS "timeoutMs", r.max_silent_ms AS "maxSilentMs",
    r.concurrency_key IS NOT NULL AS keyed, r.concurrency_key IS NOT NULL OR r.workflow_id IS NOT NULL AS gated,
    r.workflow_id IS NOT NULL AS step,
    r.checkpoint::text AS checkpoint, ${waited} AS "waitMs",
    r.lane, r.priority, r.grp AS "group", r.run_at${more.read}
)
SELECT "runId", fence, task, payload, attempt, epoch, "onCrash", "crashCount", "timeoutMs", "maxSilentMs", keyed, gated, step,
  checkpoint, "waitMs", lane, priority, "group", CASE WHEN ${cursors}::boolean THEN to_jsonb(run_at)#>>'{}' END AS "runAt"${more.selected}
FROM claimed ORDER BY run_at, "runId"`,
  )
}
