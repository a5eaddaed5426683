/**
 * Reads recorded events that need a person: dead holders, failed heartbeats, refused writes, recoveries to review, late
 * schedules, deliveries, rising errors. One statement; every part of it stops at a bound.
 */
import { sql } from 'kysely'
import { statementTime } from '../../clock.ts'
import type { Db } from '../../connection/db.ts'
import { isAlive } from '../../replicas/alive.ts'
import { agoMs, countMax, countOf } from '../bounded.ts'
import { subjectsMax } from './attention-item.ts'

export interface Recorded {
  readonly at: Date
  /** Replicas that hold runs and are not alive, or have no row, with the number of those runs. */
  readonly deadHolders: readonly { readonly id: string; readonly name: string | null; readonly runs: number }[]
  readonly failing: readonly {
    readonly id: string
    readonly name: string | null
    readonly inARow: number
    readonly error: string
  }[]
  readonly refused: {
    readonly count: number
    readonly runId: string | null
    readonly kind: string | null
    readonly name: string | null
    /** Whether a recovery ended the claim that wrote. */
    readonly recovered: boolean
    /** Whether the run ended under that claim. */
    readonly ended: boolean
  }
  readonly toReview: { readonly count: number; readonly task: string | null }
  readonly schedules: readonly {
    readonly name: string
    readonly lateMs: number | null
    readonly failedRunId: string | null
  }[]
  readonly deliveries: { readonly count: number; readonly destination: string | null; readonly error: string | null }
  readonly errors: readonly {
    readonly fingerprint: string
    readonly name: string
    readonly message: string
    readonly task: string | null
    readonly seen: number
    /** Mean per hour of the day before. */
    readonly usual: number
  }[]
}

/** The most runs of one holder that are counted. */
const heldMax = 1_000
const holdersMax = 500
const schedulesMax = 1_000
const lateMs = 60_000
const inARowMin = 3
/** An error that occurred less often within two hours is not reported. */
const errorsMin = 5
const riseFactor = 3
const groupsMax = 200

export async function recorded(db: Db): Promise<Recorded> {
  const most = sql`LIMIT ${countMax + 1}::int`
  const { rows } = await sql<Recorded>`
SELECT ${statementTime} AS at, (${deadHolders}) AS "deadHolders", (${failing}) AS failing, (${lateSchedules}) AS schedules, (${rising}) AS errors,
  (SELECT jsonb_build_object('count', ${countOf(sql`SELECT FROM q.task_event e WHERE e.kind LIKE 'refused-%'
      AND e.happened_at > ${statementTime} - interval '1 hour' ORDER BY e.happened_at ${most}`)}, 'runId', last.run_id::text, 'kind', last.kind, 'name', last.name,
      'recovered', EXISTS (SELECT FROM q.recovery v WHERE v.run_id = last.run_id AND v.fence = last.fence),
      'ended', EXISTS (SELECT FROM q.task_run r WHERE r.id = last.run_id AND r.fence = last.fence AND r.finished_at IS NOT NULL))
    FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT e.run_id, e.fence, e.kind, coalesce(n.name, e.replica_id) AS name FROM q.task_event e LEFT JOIN q.replica n ON n.id = e.replica_id
      WHERE e.kind LIKE 'refused-%' AND e.happened_at > ${statementTime} - interval '1 hour' ORDER BY e.happened_at DESC LIMIT 1) last ON true) AS refused,
  (SELECT jsonb_build_object('count', ${countOf(sql`SELECT FROM q.recovery v WHERE v.became = 'FAILED' AND v.reviewed_at IS NULL ORDER BY v.id ${most}`)}, 'task', last.task)
    FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT r.task FROM (SELECT v.run_id FROM q.recovery v WHERE v.became = 'FAILED' AND v.reviewed_at IS NULL
      ORDER BY v.id DESC LIMIT 1) v JOIN q.task_run r ON r.id = v.run_id) last ON true) AS "toReview",
  (SELECT jsonb_build_object('count', ${countOf(sql`SELECT FROM q.delivery d WHERE d.due_at IS NULL AND d.delivered_at IS NULL ORDER BY d.id ${most}`)},
      'destination', last.destination, 'error', last.last_error)
    FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT d.destination, d.last_error FROM q.delivery d WHERE d.due_at IS NULL AND d.delivered_at IS NULL
      ORDER BY d.id DESC LIMIT 1) last ON true) AS deliveries`.execute(db)
  return rows[0] as Recorded
}

/** A loose scan of the index of held runs finds the holders. */
const deadHolders = sql`
WITH RECURSIVE holder AS (
  (SELECT r.replica_id FROM q.task_run r WHERE r.held ORDER BY r.replica_id LIMIT 1)
  UNION ALL
  SELECT next.replica_id FROM holder CROSS JOIN LATERAL (
    SELECT r.replica_id FROM q.task_run r WHERE r.held AND r.replica_id > holder.replica_id ORDER BY r.replica_id LIMIT 1) next
)
SELECT coalesce(jsonb_agg(jsonb_build_object('id', dead.id, 'name', dead.name, 'runs', dead.runs)), '[]') FROM (
  SELECT holder.replica_id AS id, n.name,
    ${countOf(sql`SELECT FROM q.task_run r WHERE r.held AND r.replica_id = holder.replica_id LIMIT ${heldMax}::int`)} AS runs
  FROM (SELECT replica_id FROM holder LIMIT ${holdersMax}::int) holder
  LEFT JOIN q.replica n ON n.id = holder.replica_id LEFT JOIN q.replica_heartbeat h ON h.replica_id = n.id
  WHERE ${isAlive} IS NOT TRUE ORDER BY runs DESC LIMIT ${subjectsMax}::int) dead`

const failing = sql`
SELECT coalesce(jsonb_agg(jsonb_build_object('id', f.replica_id, 'name', n.name, 'inARow', f.in_a_row, 'error', f.error)), '[]') FROM (
  SELECT DISTINCT ON (replica_id) replica_id, consecutive AS in_a_row, error FROM (
    SELECT * FROM q.heartbeat_failure WHERE failed_at > ${statementTime} - interval '10 minutes' ORDER BY failed_at DESC LIMIT ${countMax}::int) recent
  WHERE consecutive >= ${inARowMin}::int ORDER BY replica_id, failed_at DESC LIMIT ${subjectsMax}::int) f
LEFT JOIN q.replica n ON n.id = f.replica_id`

/** Schedules that are late, or whose last run failed. */
const lateSchedules = sql`
SELECT coalesce(jsonb_agg(jsonb_build_object('name', late.name, 'lateMs', late.late_ms, 'failedRunId', late.failed::text)), '[]') FROM (
  SELECT s.name, CASE WHEN s.next_tick < ${statementTime} - ${lateMs}::int * interval '1 ms' THEN ${agoMs(sql`s.next_tick`)} END AS late_ms, failed.id AS failed
  FROM (SELECT name, next_tick FROM q.schedule WHERE paused_at IS NULL ORDER BY next_tick LIMIT ${schedulesMax}::int) s
  LEFT JOIN LATERAL (SELECT r.id FROM (SELECT t.run_id FROM q.schedule_tick t WHERE t.schedule = s.name ORDER BY t.tick DESC LIMIT 1) t
    JOIN q.task_run r ON r.id = t.run_id WHERE r.status = 'FAILED') failed ON true
  WHERE s.next_tick < ${statementTime} - ${lateMs}::int * interval '1 ms' OR failed.id IS NOT NULL LIMIT ${subjectsMax}::int) late`

/** Errors that occurred in this hour and the previous one more often than a multiple of the mean of the day before. */
const rising = sql`
SELECT coalesce(jsonb_agg(jsonb_build_object('fingerprint', risen.fingerprint, 'name', risen.name, 'message', left(risen.message, 120),
  'task', risen.tasks[1], 'seen', risen.seen, 'usual', risen.usual) ORDER BY risen.seen DESC), '[]') FROM (
  SELECT e.fingerprint, e.name, e.message, e.tasks, lately.seen, lately.usual FROM (
    SELECT * FROM q.error_group e WHERE e.last_seen > ${statementTime} - interval '1 hour'
      AND (e.muted_until IS NULL OR e.muted_until <= ${statementTime}) ORDER BY e.last_seen DESC LIMIT ${groupsMax}::int) e
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(t.seen) FILTER (WHERE t.bucket_at >= this.hour - interval '1 hour'), 0)::float8 AS seen,
      coalesce(sum(t.seen) FILTER (WHERE t.bucket_at < this.hour - interval '1 hour'), 0)::float8 / 22 AS usual
    FROM (SELECT date_trunc('hour', ${statementTime}) AS hour) this
    LEFT JOIN q.error_tally t ON t.fingerprint = e.fingerprint AND t.bucket_at >= this.hour - interval '23 hours') lately
  WHERE lately.seen >= ${errorsMin}::int AND lately.seen >= ${riseFactor}::int * 2 * lately.usual
  ORDER BY lately.seen DESC LIMIT ${subjectsMax}::int) risen`
