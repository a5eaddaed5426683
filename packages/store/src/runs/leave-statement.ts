/**
 * The one statement by which runs leave their state (leave.ts says what it does).
 *
 * Locks: the runs in the order of their ids; then the heads of the keys, which are skipped if somebody has them. The
 * aggregate in `freed` makes slots free before they are taken again. What a later part needs of the run is carried
 * along, never joined again: PostgreSQL takes such parts for one row and would compare each run with every other.
 *
 * A slot goes to the most urgent run of the key that can start now (startable.ts), as long as no run of the key
 * sits above the limit: after a limit was lowered, how many may follow is
 * counted by the promotion, which has the key's lock.
 */
import type { TaskState } from '@q/schema'
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import { owedForEnds } from '../deliveries/owed.ts'
import { prepared, valuesOf, type Places } from '../prepared.ts'
import { withoutServer } from '../without-server.ts'
import { wakesForEnds } from './awaited.ts'
import { slotsOf } from './claimable.ts'
import type { Leaving, Left } from './leave.ts'
import { resolvedOnCrash } from './on-crash.ts'
import { realStart } from './real-start.ts'
import { wakesForReady } from './ready-wakes.ts'
import { lanesWaitingFor, startRank } from './startable.ts'

export interface LeaveOptions {
  /** A further condition on the run, as `r`, judged under its lock. */
  readonly onlyIf?: RawBuilder<boolean>
  /** Runs that somebody else has locked are passed over instead of waited for. */
  readonly skipLocked?: boolean
  /** Steps of workflows too, which are passed over otherwise: only in a transaction that has locked their workflows. */
  readonly steps?: boolean
}

/** Starts after crashes that `onCrash: 'retry'` allows. */
const crashesMax = 3

/** Whether onCrash lets a crashed run start again, before its crashes are counted. */
const startsAgain = sql`coalesce(given.on_crash, ${resolvedOnCrash()}) = 'retry'`

export function leaveStatement(
  from: readonly TaskState[],
  leavings: readonly Leaving[],
  { onlyIf, skipLocked = false, steps = false }: LeaveOptions = {},
): CompiledQuery<Left> {
  const columns = columnsOf(from, leavings, steps)
  if (onlyIf === undefined) return (skipLocked ? leaveSkippingLocked : leave)(columns)
  return leaveSql(valuesOf(columns), onlyIf, skipLocked).compile(withoutServer())
}

const leave = prepared<Columns, Left>('leave', (column) => leaveSql(column))
const leaveSkippingLocked = prepared<Columns, Left>('leave-skipping-locked', (column) =>
  leaveSql(column, undefined, true),
)

type Columns = ReturnType<typeof columnsOf>

function columnsOf(from: readonly TaskState[], leavings: readonly Leaving[], steps: boolean) {
  const column = <T>(read: (leaving: Leaving) => T): T[] => leavings.map(read)
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
    took: column((l) => l.tookMs ?? null),
    giveBack: column((l) => l.giveBack ?? false),
    revoke: column((l) => l.revoke ?? false),
    hostnames: column((l) => l.by?.hostname ?? null),
    pids: column((l) => l.by?.pid ?? null),
    threads: column((l) => l.by?.thread ?? null),
  }
}

/** The delay with a quarter of jitter in both directions, never more than the maximum. */
function jittered(ms: RawBuilder<number>, msMax: RawBuilder<number>): RawBuilder<number> {
  return sql<number>`0.75 * least(${ms}, ${msMax}) + random() * (least(1.25 * ${ms}, ${msMax}) - 0.75 * least(${ms}, ${msMax}))`
}

// A whole statement by hand: changes that must be one, in an order of locks that must be seen.
function leaveSql(column: Places<Columns>, onlyIf?: RawBuilder<boolean>, skipLocked = false): RawBuilder<Left> {
  return sql<Left>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(
    ${column.ids}::bigint[], ${column.fences}::int[], ${column.goals}::text[], ${column.results}::text[],
    ${column.delays}::float8[], ${column.delaysMax}::float8[], ${column.onCrash}::q.on_crash[],
    ${column.took}::float8[], ${column.giveBack}::boolean[], ${column.revoke}::boolean[], ${column.hostnames}::text[], ${column.pids}::int[],
    ${column.threads}::smallint[]
  ) AS g(id, fence, goal, result, delay_ms, delay_ms_max, on_crash, took_ms, give_back, revoke, hostname, pid, thread)
), locked AS MATERIALIZED (
  SELECT given.*, r.status AS was, r.fence AS held_fence, r.epoch, r.attempt, r.claimed_at, r.replica_id,
    ${realStart(sql`r.started_at`, sql`given.took_ms`)} AS started_at,
    r.concurrency_scope, r.concurrency_key, r.concurrency_slot,
    CASE WHEN r.cancel_requested_at IS NOT NULL AND planned.state IN ('AVAILABLE', 'PENDING') THEN 'CANCELLED'
      ELSE planned.state END AS next,
    given.goal = 'CRASH' AND r.status = 'RUNNING' AS crashed,
    given.goal = 'CRASH' AND ${startsAgain} AS poisoned
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = coalesce(given.fence, r.fence)
  CROSS JOIN LATERAL (SELECT CASE given.goal
    WHEN 'RETRY' THEN CASE WHEN r.attempt < r.max_attempts THEN 'PENDING' ELSE 'FAILED' END
    WHEN 'CRASH' THEN CASE
      WHEN r.status = 'CLAIMED' THEN 'AVAILABLE'
      WHEN ${startsAgain} AND r.crash_count < ${crashesMax} THEN 'AVAILABLE'
      ELSE 'FAILED' END
    ELSE given.goal END::q.task_status AS state) planned
  WHERE r.status = ANY(${column.from}::q.task_status[]) AND (r.workflow_id IS NULL OR ${column.steps}::boolean) AND ${onlyIf ?? sql`true`}
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
    run_at = CASE WHEN locked.next = 'PENDING' THEN clock_timestamp() + CASE
        WHEN locked.goal = 'RETRY' AND locked.delay_ms_max IS NOT NULL
          THEN ${jittered(sql<number>`locked.delay_ms * power(2, r.attempt - 1)`, sql<number>`locked.delay_ms_max`)}
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
  RETURNING r.id, r.status, r.lane, r.result, r.task, r.workflow_id, locked.was, locked.next, locked.goal, locked.result AS told, locked.crashed,
    locked.held_fence, locked.epoch, locked.attempt, locked.claimed_at AS taken, locked.started_at AS began, locked.replica_id AS holder,
    locked.concurrency_scope, locked.concurrency_key, locked.concurrency_slot, locked.hostname, locked.pid, locked.thread
), history AS (
  INSERT INTO q.task_attempt
    (run_id, fence, epoch, attempt, thread, pid, claimed_at, started_at, outcome, code, detail, replica_id, hostname)
  SELECT id, held_fence, epoch, attempt, thread, pid, taken, began,
    CASE WHEN crashed THEN 'crashed' WHEN next = 'AVAILABLE' THEN 'released' WHEN goal = 'RETRY' AND next = 'PENDING' THEN 'retried'
      WHEN next = 'PENDING' THEN 'snoozed' ELSE lower(next::text) END,
    coalesce(result, told::jsonb) ->> 'code', coalesce(result, told::jsonb) ->> 'detail', holder, hostname
  FROM gone WHERE was = 'RUNNING' AND next <> 'SUCCEEDED'
), unstarted AS (
  INSERT INTO q.task_event (run_id, fence, kind, replica_id)
  SELECT id, held_fence, CASE goal WHEN 'CRASH' THEN 'claim-recovered' ELSE 'claim-released' END, holder
  FROM gone WHERE was = 'CLAIMED' AND next IN ('AVAILABLE', 'PENDING')
  ON CONFLICT DO NOTHING
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM gone))
), parted AS MATERIALIZED (
  SELECT g.id, g.workflow_id, g.held_fence AS fence, g.was, g.status, g.result ->> 'code' AS code, g.concurrency_slot AS slot,
    g.concurrency_key AS key,
    g.status <> 'AVAILABLE' AND g.concurrency_slot IS NOT NULL AND g.concurrency_slot <= allowed.slots AND NOT EXISTS (
      SELECT FROM q.task_run h WHERE h.concurrency_key = g.concurrency_key AND h.concurrency_slot > allowed.slots) AS frees
  FROM gone g CROSS JOIN LATERAL (SELECT ${slotsOf(sql`g.concurrency_scope`)} AS slots) allowed
), freed AS MATERIALIZED (
  SELECT key, array_agg(slot ORDER BY slot) AS slots, array_agg(id) AS ids, array_agg(workflow_id) AS workflows, array_agg(fence) AS fences, array_agg(was) AS wases,
    array_agg(status) AS statuses, array_agg(code) AS codes
  FROM parted WHERE frees GROUP BY key
), waiting AS MATERIALIZED (
  SELECT freed.*, ARRAY(${lanesWaitingFor(sql.ref('freed.key'))}) AS lanes FROM freed
), ranks AS MATERIALIZED (
  SELECT lane.id, ${startRank} AS rank FROM q.lane WHERE lane.id = ANY(ARRAY(SELECT DISTINCT unnest(lanes) FROM waiting))
), handed AS MATERIALIZED (
  SELECT waiting.*, ARRAY(
    SELECT head.id FROM unnest(waiting.lanes) own(lane) JOIN ranks ON ranks.id = own.lane AND ranks.rank IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT n.id, n.priority FROM q.task_run n WHERE n.gated_key = waiting.key AND n.lane = own.lane
      ORDER BY n.priority, n.id LIMIT cardinality(waiting.slots) FOR NO KEY UPDATE SKIP LOCKED) head
    ORDER BY ranks.rank, head.priority, head.id LIMIT cardinality(waiting.slots)) AS heirs
  FROM waiting
), promoted AS (
  UPDATE q.task_run r SET status = 'AVAILABLE', waiting_for = NULL, concurrency_slot = heir.slot, updated_at = clock_timestamp()
  FROM handed CROSS JOIN LATERAL unnest(handed.heirs, handed.slots) heir(id, slot) WHERE r.id = heir.id
  RETURNING r.lane
), ready AS (
  SELECT lane FROM promoted UNION SELECT lane FROM gone WHERE status = 'AVAILABLE'
), ends AS MATERIALIZED (
  SELECT id, epoch, task, status FROM gone WHERE status NOT IN ('AVAILABLE', 'PENDING')
), ${wakesForReady(sql`ready`)}, ${wakesForEnds(sql`ends`)}, ${owedForEnds(sql`ends`)}
SELECT e.id, e.workflow_id AS "workflowId", e.fence, e.was, e.status, e.code, CASE WHEN e.slot IS NOT NULL THEN e.key END AS "openKey"
FROM parted e LEFT JOIN woken ON true LEFT JOIN announced ON true WHERE NOT e.frees
UNION ALL
SELECT run.id, run.workflow_id, run.fence, run.was, run.status, run.code,
  CASE WHEN cardinality(handed.slots) > cardinality(handed.heirs) THEN handed.key END
FROM handed CROSS JOIN LATERAL unnest(ids, workflows, fences, wases, statuses, codes) run(id, workflow_id, fence, was, status, code)
LEFT JOIN woken ON true LEFT JOIN announced ON true`
}
