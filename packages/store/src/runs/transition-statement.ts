/**
 * The statement that applies transitions (transition.ts says what it does). One constant per part, in the order of the
 * statement: the runs are locked, changed, recorded, and the slots they free are handed on (slot-handover.ts).
 *
 * Locks: the runs in the order of their ids; then the runs that get their slots, which are skipped if another session
 * has locked them. Later parts take columns of the run from earlier parts instead of joining again: PostgreSQL
 * estimates one row for such parts, and would compare each run with every other.
 */
import type { TaskState } from '@q/schema'
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import { fingerprintOfCode } from '../errors/fingerprint.ts'
import { prepared, valuesOf, type ParameterRefs } from '../connection/prepared.ts'
import { compileOnlyDb } from '../connection/compile-only-db.ts'
import { notifyWaiters } from './notify-waiters.ts'
import type { Transition, Transitioned } from './transition.ts'
import { resolvedOnCrash } from './on-crash.ts'
import { realStart } from './real-start.ts'
import { wakesForReady } from './ready-wakes.ts'
import { slotHandover, transitionedRuns } from './slot-handover.ts'

export interface TransitionOptions {
  /** A further condition on the run, as `r`, judged under its lock. */
  readonly onlyIf?: RawBuilder<boolean>
  /** Whether to skip runs that another session has locked instead of waiting. */
  readonly skipLocked?: boolean
  /** Whether to include steps of workflows: only in a transaction that has locked their workflows. */
  readonly steps?: boolean
}

/** Starts after crashes that `onCrash: 'retry'` allows. */
const crashesMax = 3

/** Whether onCrash lets a crashed run start again, before its crashes are counted. */
const startsAgain = sql`coalesce(given.on_crash, ${resolvedOnCrash()}) = 'retry'`

export function transitionStatement(
  from: readonly TaskState[],
  transitions: readonly Transition[],
  { onlyIf, skipLocked = false, steps = false }: TransitionOptions = {},
): CompiledQuery<Transitioned> {
  const columns = transitionColumns(from, transitions, steps)
  if (onlyIf === undefined) return (skipLocked ? transitionSkippingLocked : transition)(columns)
  return transitionSql(valuesOf(columns), onlyIf, skipLocked).compile(compileOnlyDb())
}

const transition = prepared<Columns, Transitioned>('transition', (column) => transitionSql(column))
const transitionSkippingLocked = prepared<Columns, Transitioned>('transition-skipping-locked', (column) =>
  transitionSql(column, undefined, true),
)

type Columns = ReturnType<typeof transitionColumns>

function transitionColumns(from: readonly TaskState[], transitions: readonly Transition[], steps: boolean) {
  const column = <T>(read: (transition: Transition) => T): T[] => transitions.map(read)
  return {
    from,
    steps,
    ids: column((l) => l.runId),
    fences: column((l) => l.fence),
    goals: column((l) => l.goal),
    results: column((l) => l.result ?? null),
    delays: column((l) => l.delayMs ?? 0),
    delaysMax: column((l) => l.delayMsMax ?? null),
    onCrash: column((l) => l.onCrash ?? null),
    fingerprints: column((l) => l.fingerprint ?? null),
    took: column((l) => l.tookMs ?? null),
    refundAttempt: column((l) => l.refundAttempt ?? false),
    revoke: column((l) => l.revoke ?? false),
    hostnames: column((l) => l.by?.hostname ?? null),
    pids: column((l) => l.by?.pid ?? null),
    threads: column((l) => l.by?.thread ?? null),
  }
}

// Written in SQL: changes that must be atomic, with a visible order of locks.
function transitionSql(
  column: ParameterRefs<Columns>,
  onlyIf: RawBuilder<boolean> = sql`true`,
  skipLocked = false,
): RawBuilder<Transitioned> {
  return sql<Transitioned>`
WITH ${givenTransitions(column)}, ${lockedRuns(column, onlyIf, skipLocked)}, ${changedRuns}, ${history}, ${unstarted},
${removedHeartbeats}, ${slotHandover}, ${readyLanes}, ${ends}, ${wakesForReady(sql`ready`)}, ${notifyWaiters(sql`ends`)}
${transitionedRuns}`
}

function givenTransitions(column: ParameterRefs<Columns>): RawBuilder<unknown> {
  return sql`given AS MATERIALIZED (
  SELECT * FROM unnest(
    ${column.ids}::bigint[], ${column.fences}::int[], ${column.goals}::text[], ${column.results}::text[],
    ${column.delays}::float8[], ${column.delaysMax}::float8[], ${column.onCrash}::q.on_crash[],
    ${column.took}::float8[], ${column.refundAttempt}::boolean[], ${column.revoke}::boolean[], ${column.hostnames}::text[], ${column.pids}::int[],
    ${column.threads}::smallint[], ${column.fingerprints}::text[]
  ) AS g(id, fence, goal, result, delay_ms, delay_ms_max, on_crash, took_ms, refund_attempt, revoke, hostname, pid, thread, fingerprint)
)`
}

/** The runs that are in one of the expected states under their fence, each with its next state. */
function lockedRuns(
  column: ParameterRefs<Columns>,
  onlyIf: RawBuilder<boolean>,
  skipLocked: boolean,
): RawBuilder<unknown> {
  return sql`locked AS MATERIALIZED (
  SELECT given.*, r.status AS was, r.fence AS held_fence, r.epoch, r.attempt, r.claimed_at, r.replica_id,
    ${realStart(sql`r.started_at`, sql`given.took_ms`)} AS started_at,
    r.concurrency_scope, r.concurrency_key, r.concurrency_slot,
    CASE WHEN r.cancel_requested_at IS NOT NULL AND planned.state IN ('AVAILABLE', 'PENDING') THEN 'CANCELLED'
      ELSE planned.state END AS next,
    given.goal = 'CRASH' AND r.status = 'RUNNING' AS crashed,
    given.goal = 'CRASH' AND ${startsAgain} AS restartable
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = coalesce(given.fence, r.fence)
  CROSS JOIN LATERAL (SELECT CASE given.goal
    WHEN 'RETRY' THEN CASE WHEN r.attempt < r.max_attempts THEN 'PENDING' ELSE 'FAILED' END
    WHEN 'CRASH' THEN CASE
      WHEN r.status = 'CLAIMED' THEN 'AVAILABLE'
      WHEN ${startsAgain} AND r.crash_count < ${crashesMax} THEN 'AVAILABLE'
      ELSE 'FAILED' END
    ELSE given.goal END::q.task_status AS state) planned
  WHERE r.status = ANY(${column.from}::q.task_status[]) AND (r.workflow_id IS NULL OR ${column.steps}::boolean) AND ${onlyIf}
  ORDER BY r.id FOR NO KEY UPDATE OF r ${skipLocked ? sql`SKIP LOCKED` : sql``}
)`
}

/** A delay that was doubled this often is above every cap. More doublings would leave the range of float8. */
const doublingsMax = 60

/** The delay with a quarter of jitter in both directions, never more than the maximum. */
function jittered(ms: RawBuilder<number>, msMax: RawBuilder<number>): RawBuilder<number> {
  return sql<number>`0.75 * least(${ms}, ${msMax}) + random() * (least(1.25 * ${ms}, ${msMax}) - 0.75 * least(${ms}, ${msMax}))`
}

/** The change of the runs themselves; later parts read it as `changed`. */
const changedRuns = sql`changed AS (
  UPDATE q.task_run r SET
    status = locked.next,
    fence = r.fence + CASE WHEN locked.next IN ('AVAILABLE', 'PENDING') OR locked.was = 'CLAIMED' OR locked.revoke THEN 1 ELSE 0 END,
    attempt = r.attempt - CASE WHEN locked.refund_attempt AND locked.was = 'RUNNING' THEN 1 ELSE 0 END,
    crash_count = r.crash_count + CASE WHEN locked.crashed THEN 1 ELSE 0 END,
    result = CASE
      WHEN locked.next IN ('AVAILABLE', 'PENDING') THEN NULL
      WHEN locked.next = 'CANCELLED' AND locked.goal <> 'CANCELLED' THEN
        jsonb_build_object('code', 'TASK_CANCELLED', 'detail', 'Cancelled before it could be started again.')
      WHEN locked.restartable THEN jsonb_build_object('code', 'POISONED', 'detail',
        format('It was running when its replica died, %s times.', r.crash_count + 1))
      ELSE locked.result::jsonb END,
    run_at = CASE WHEN locked.next = 'PENDING' THEN clock_timestamp() + CASE
        WHEN locked.goal = 'RETRY' AND locked.delay_ms_max IS NOT NULL
          THEN ${jittered(sql<number>`locked.delay_ms * power(2, least(r.attempt - 1, ${sql.lit(doublingsMax)}))`, sql<number>`locked.delay_ms_max`)}
        ELSE locked.delay_ms END * interval '1 ms' ELSE r.run_at END,
    waiting_for = CASE WHEN locked.next = 'PENDING' THEN 'time' END,
    concurrency_slot = CASE WHEN locked.next = 'AVAILABLE' THEN r.concurrency_slot END,
    replica_id = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.replica_id END,
    claimed_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.claimed_at END,
    started_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN locked.started_at END,
    cancel_requested_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN r.cancel_requested_at END,
    finished_at = CASE WHEN locked.next NOT IN ('AVAILABLE', 'PENDING') THEN clock_timestamp() END,
    updated_at = clock_timestamp()
  FROM locked WHERE r.id = locked.id
  RETURNING r.id, r.status, r.lane, r.result, r.task, r.workflow_id, locked.was, locked.next, locked.goal, locked.result AS given_result, locked.crashed,
    locked.held_fence, locked.epoch, locked.attempt, locked.claimed_at AS taken, locked.started_at AS began, locked.replica_id AS holder,
    locked.concurrency_scope, locked.concurrency_key, locked.concurrency_slot, locked.hostname, locked.pid, locked.thread, locked.fingerprint
)`

/** A row for each attempt that ended without success. */
const history = sql`history AS (
  INSERT INTO q.task_attempt
    (run_id, fence, epoch, attempt, thread, pid, claimed_at, started_at, outcome, code, detail, replica_id, hostname, fingerprint)
  SELECT id, held_fence, epoch, attempt, thread, pid, taken, began, how.outcome, why.code, why.detail, holder, hostname,
    CASE WHEN how.outcome IN ('crashed', 'failed', 'retried') THEN coalesce(fingerprint, ${fingerprintOfCode(sql`why.code`, sql`task`)}) END
  FROM changed CROSS JOIN LATERAL (SELECT
    CASE WHEN crashed THEN 'crashed' WHEN next = 'AVAILABLE' THEN 'released' WHEN goal = 'RETRY' AND next = 'PENDING' THEN 'retried'
      WHEN next = 'PENDING' THEN 'snoozed' ELSE lower(next::text) END AS outcome) how
  CROSS JOIN LATERAL (SELECT end_of.error ->> 'code' AS code, end_of.error ->> 'detail' AS detail
    FROM (SELECT coalesce(changed.result, changed.given_result::jsonb) AS error) end_of) why
  WHERE was = 'RUNNING' AND next <> 'SUCCEEDED'
)`

/** An event for each claim that was released or recovered before the run started. */
const unstarted = sql`unstarted AS (
  INSERT INTO q.task_event (run_id, fence, kind, replica_id)
  SELECT id, held_fence, CASE goal WHEN 'CRASH' THEN 'claim-recovered' ELSE 'claim-released' END, holder
  FROM changed WHERE was = 'CLAIMED' AND next IN ('AVAILABLE', 'PENDING')
  ON CONFLICT DO NOTHING
)`

/** Heartbeats end with the attempt. */
const removedHeartbeats = sql`removed_heartbeats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM changed))
)`

/** Lanes in which a run became AVAILABLE. */
const readyLanes = sql`ready AS (
  SELECT lane FROM promoted UNION SELECT lane FROM changed WHERE status = 'AVAILABLE'
)`

/** Runs that ended. */
const ends = sql`ends AS MATERIALIZED (
  SELECT id, status FROM changed WHERE status NOT IN ('AVAILABLE', 'PENDING')
)`
