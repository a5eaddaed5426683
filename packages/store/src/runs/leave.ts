/**
 * How a run leaves the state it is in, by whosoever's decision: settled or given back by its holder, cancelled by a
 * person, expired, reaped. One statement for all of them, so all of them do the same things, together or not at all:
 *
 *   the run        its next state, its counts, and a higher fence unless its holder ends it
 *   history        a row for an attempt that ended, unless it succeeded
 *   beats          removed
 *   its slot       of a concurrency key: handed to the next run that waits for the key, never to two
 *   a wake         for those who await its end
 *
 * Whatever would let a run be started again ends it CANCELLED if its cancelling was requested.
 *
 * Locks: the runs in the order of their ids; then the heads of the keys, which are skipped if somebody has them. The
 * aggregate in `freed` makes slots free before they are taken again. What a later part needs of the run is carried
 * along, never joined again: PostgreSQL takes such parts for one row and would compare each run with every other.
 */
import type { TaskState } from '@q/schema'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

export interface Leaving {
  readonly runId: RunId
  /** Null only for those who decide without holding it: cancel and expire. */
  readonly fence: number | null
  readonly goal: Goal
  /** JSON text: of SUCCEEDED the return value, of every other end, also one that RETRY or CRASH may come to, code and detail. */
  readonly result?: string
  /** PENDING and RETRY: how long from now; RETRY doubles it with every attempt, up to the cap, with jitter. */
  readonly delayMs?: number
  readonly delayMsMax?: number
  /** CRASH: what the run's holder registered, for a run whose task says nothing. */
  readonly onCrash?: 'fail' | 'retry'
  /** The attempt does not count. */
  readonly giveBack?: boolean
  /** Decided by somebody else: the holder's lease is void, also if this is the end. */
  readonly revoke?: boolean
  readonly by?: { readonly hostname: string; readonly pid: number; readonly thread: number }
}

export type Goal =
  | 'SUCCEEDED'
  | 'FAILED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'SKIPPED'
  | 'AVAILABLE'
  | 'PENDING'
  /** Later again if attempts are left, else FAILED. */
  | 'RETRY'
  /** Its holder died: AVAILABLE or FAILED, by its onCrash and its crash count. */
  | 'CRASH'

export interface Left {
  readonly id: RunId
  /** Under which it was held, or waited. */
  readonly fence: number
  readonly was: TaskState
  readonly status: TaskState
  /** Of an end that is not a success. */
  readonly code: string | null
  /** A concurrency key whose slot was freed and found no successor: promote it after the commit. */
  readonly openKey: string | null
  /** It, or the successor of its slot, can be claimed now: worth a wake after the commit. */
  readonly madeReady: boolean
}

/** Starts after crashes that `onCrash: 'retry'` allows. */
const crashesMax = 3

/**
 * Those that were in one of the states `from` under their fence, in no particular order; the others are not mentioned.
 */
export async function leaveRuns(
  db: Db,
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  options: LeaveOptions = {},
): Promise<Left[]> {
  if (leavings.length === 0) return []
  return (await leaveStatement(from, leavings, options).execute(db)).rows
}

export interface LeaveOptions {
  /** A further condition on the run, as `r`, judged under its lock. */
  readonly onlyIf?: RawBuilder<boolean>
  /** Runs that somebody else has locked are passed over instead of waited for. */
  readonly skipLocked?: boolean
}

// A whole statement by hand: changes that must be one, in an order of locks that must be seen.
export function leaveStatement(
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  { onlyIf = sql<boolean>`true`, skipLocked = false }: LeaveOptions = {},
): RawBuilder<Left> {
  const column = <T>(read: (leaving: Leaving) => T): T[] => leavings.map(read)
  return sql<Left>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(
    ${column((l) => l.runId)}::bigint[], ${column((l) => l.fence)}::int[], ${column((l) => l.goal)}::text[],
    ${column((l) => l.result ?? null)}::text[], ${column((l) => l.delayMs ?? 0)}::float8[],
    ${column((l) => l.delayMsMax ?? null)}::float8[], ${column((l) => l.onCrash ?? null)}::q.on_crash[],
    ${column((l) => l.giveBack ?? false)}::boolean[], ${column((l) => l.revoke ?? false)}::boolean[], ${column((l) => l.by?.hostname ?? null)}::text[],
    ${column((l) => l.by?.pid ?? null)}::int[], ${column((l) => l.by?.thread ?? null)}::smallint[]
  ) AS g(id, fence, goal, result, delay_ms, delay_ms_max, on_crash, give_back, revoke, hostname, pid, thread)
), locked AS MATERIALIZED (
  SELECT given.*, r.status AS was, r.fence AS held_fence, r.epoch, r.attempt, r.started_at, r.replica_id,
    r.concurrency_scope, r.concurrency_key, r.concurrency_slot,
    CASE WHEN r.cancel_requested_at IS NOT NULL AND planned.state IN ('AVAILABLE', 'PENDING') THEN 'CANCELLED'
      ELSE planned.state END AS next,
    given.goal = 'CRASH' AND r.status = 'RUNNING' AS crashed,
    given.goal = 'CRASH' AND coalesce(r.on_crash, given.on_crash, 'fail') = 'retry' AS poisoned
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = coalesce(given.fence, r.fence)
  CROSS JOIN LATERAL (SELECT CASE given.goal
    WHEN 'RETRY' THEN CASE WHEN r.attempt < r.max_attempts THEN 'PENDING' ELSE 'FAILED' END
    WHEN 'CRASH' THEN CASE
      WHEN r.status = 'CLAIMED' THEN 'AVAILABLE'
      WHEN coalesce(r.on_crash, given.on_crash, 'fail') = 'retry' AND r.crash_count < ${crashesMax} THEN 'AVAILABLE'
      ELSE 'FAILED' END
    ELSE given.goal END::q.task_status AS state) planned
  WHERE r.status = ANY(${from}::q.task_status[]) AND ${onlyIf}
  ORDER BY r.id FOR NO KEY UPDATE OF r ${skipLocked ? sql`SKIP LOCKED` : sql``}
), gone AS (
  UPDATE q.task_run r SET
    status = locked.next,
    fence = r.fence + CASE WHEN locked.next IN ('AVAILABLE', 'PENDING') OR locked.was = 'CLAIMED' OR locked.revoke THEN 1 ELSE 0 END,
    attempt = r.attempt - CASE WHEN locked.give_back AND locked.was = 'RUNNING' THEN 1 ELSE 0 END,
    crash_count = r.crash_count + CASE WHEN locked.crashed THEN 1 ELSE 0 END,
    result = CASE
      WHEN locked.next IN ('AVAILABLE', 'PENDING') THEN NULL
      WHEN locked.next = 'CANCELLED' AND locked.goal <> 'CANCELLED' THEN
        jsonb_build_object('code', 'TASK_CANCELLED', 'detail', 'Cancelled before it could be started again.')
      WHEN locked.poisoned THEN jsonb_build_object('code', 'POISONED', 'detail',
        format('It was running when its replica died, %s times.', r.crash_count + 1))
      ELSE locked.result::jsonb END,
    run_at = CASE WHEN locked.next = 'PENDING' THEN clock_timestamp() + CASE locked.goal
        WHEN 'RETRY' THEN least(locked.delay_ms * power(2, r.attempt - 1), coalesce(locked.delay_ms_max, 'Infinity')) * (0.75 + random() / 2)
        ELSE locked.delay_ms END * interval '1 ms' ELSE r.run_at END,
    waiting_for = CASE WHEN locked.next = 'PENDING' THEN 'time' END,
    concurrency_slot = CASE WHEN locked.next = 'AVAILABLE' THEN r.concurrency_slot END,
    replica_id = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.replica_id END,
    claimed_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.claimed_at END,
    started_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.started_at END,
    cancel_requested_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.cancel_requested_at END,
    finished_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN clock_timestamp() END,
    updated_at = clock_timestamp()
  FROM locked WHERE r.id = locked.id
  RETURNING r.id, r.status, r.result, locked.was, locked.next, locked.goal, locked.result AS told, locked.crashed,
    locked.held_fence, locked.epoch, locked.attempt, locked.started_at AS began, locked.replica_id AS holder,
    locked.concurrency_scope, locked.concurrency_key, locked.concurrency_slot, locked.hostname, locked.pid, locked.thread
), history AS (
  INSERT INTO q.task_attempt
    (run_id, fence, epoch, attempt, thread, pid, started_at, outcome, code, detail, replica_id, hostname)
  SELECT id, held_fence, epoch, attempt, thread, pid, began,
    CASE WHEN crashed THEN 'crashed' WHEN next = 'AVAILABLE' THEN 'released' WHEN goal = 'RETRY' AND next = 'PENDING' THEN 'retried'
      WHEN next = 'PENDING' THEN 'snoozed' ELSE lower(next::text) END,
    coalesce(result, told::jsonb) ->> 'code', coalesce(result, told::jsonb) ->> 'detail', holder, hostname
  FROM gone WHERE was = 'RUNNING' AND next <> 'SUCCEEDED'
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM gone))
), parted AS MATERIALIZED (
  SELECT g.id, g.held_fence AS fence, g.was, g.status, g.result ->> 'code' AS code, g.concurrency_key AS key, g.concurrency_slot AS slot,
    g.status <> 'AVAILABLE' AND (g.concurrency_slot <= coalesce(
      (SELECT c.slots FROM q.concurrency_limit c WHERE c.scope = g.concurrency_scope), 1)) IS TRUE AS frees
  FROM gone g
), freed AS MATERIALIZED (
  SELECT key, array_agg(slot ORDER BY slot) AS slots, array_agg(id) AS ids, array_agg(fence) AS fences, array_agg(was) AS wases,
    array_agg(status) AS statuses, array_agg(code) AS codes
  FROM parted WHERE frees GROUP BY key
), handed AS MATERIALIZED (
  SELECT freed.*, ARRAY(SELECT n.id FROM q.task_run n WHERE n.gated_key = freed.key
    ORDER BY n.priority, n.id LIMIT cardinality(freed.slots) FOR NO KEY UPDATE SKIP LOCKED) AS heirs
  FROM freed
), promoted AS (
  UPDATE q.task_run r SET status = 'AVAILABLE', waiting_for = NULL, concurrency_slot = heir.slot, updated_at = clock_timestamp()
  FROM handed CROSS JOIN LATERAL unnest(handed.heirs, handed.slots) heir(id, slot) WHERE r.id = heir.id
), awaited AS (
  DELETE FROM q.awaited WHERE run_id = ANY(ARRAY(SELECT id FROM gone WHERE status NOT IN ('AVAILABLE', 'PENDING')))
  RETURNING run_id
), ended AS (
  SELECT pg_notify('q_ended', string_agg(run_id::text, ',')) FROM awaited HAVING count(*) > 0
)
SELECT e.id, e.fence, e.was, e.status, e.code, NULL AS "openKey", e.status = 'AVAILABLE' AS "madeReady"
FROM parted e LEFT JOIN ended ON true WHERE NOT e.frees
UNION ALL
SELECT run.id, run.fence, run.was, run.status, run.code,
  CASE WHEN cardinality(handed.slots) > cardinality(handed.heirs) THEN handed.key END, cardinality(handed.heirs) > 0
FROM handed CROSS JOIN LATERAL unnest(ids, fences, wases, statuses, codes) run(id, fence, was, status, code) LEFT JOIN ended ON true`
}
