/**
 * Decides which held runs are stale: their holder, or the run itself, has given no sign of life for longer than the
 * thresholds that the holder registered. The latest of heartbeat, start and claim counts; a heartbeat of an earlier
 * fence never does. The first layer that applies is the cause:
 *   never-alive    the holder has neither a replica row nor a heartbeat
 *   presence       its session lock is gone, and the watcher has waited out its grace without a sign of life
 *   replica-beat   the replica has sent no heartbeat
 *   claimer-beat   the replica has sent no heartbeat for this CLAIMED run
 *   runner-beat    the replica has sent no heartbeat for this RUNNING run
 */
import type { TaskState } from '@q/schema'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { evidenceOf } from './presence.ts'
import { isStreakLongEnough } from './streak.ts'

export const staleCauses = ['never-alive', 'presence', 'replica-beat', 'claimer-beat', 'runner-beat'] as const
export type StaleCause = (typeof staleCauses)[number]

export interface StaleQuery {
  /** The evidence that may be used; all by default. */
  readonly causes?: readonly StaleCause[]
  readonly states?: readonly ('CLAIMED' | 'RUNNING')[]
  /** Only runs that this replica holds. */
  readonly replicaId?: string
  /** Replaces the thresholds of the holders. */
  readonly staleMs?: number
  /** The caller has observed heartbeats for no longer than this: longer thresholds are not applied. */
  readonly thresholdMsMax?: number
  /** The same for the shared streak: thresholds up to this are applied if the server has accepted heartbeats for as long. */
  readonly sharedMsMax?: number
  /** In ms since 1970. If the clock of the database shows more, it has jumped or the caller is slow; ages are computed by this instead. */
  readonly clockMsMax?: number
  /** In ms since 1970: if the database's clock shows less it has stepped back, and no heartbeat is judged. */
  readonly clockMsMin?: number
  /** For the cause `presence`: evidence on which the watcher has waited out the grace (`watchPresence`). */
  readonly gone?: readonly string[]
}

export interface StaleRun {
  readonly id: RunId
  readonly fence: number
  readonly status: TaskState
  readonly replicaId: string
  /** Name of the replica; null if it has no row. */
  readonly name: string | null
  readonly hostname: string | null
  readonly cause: StaleCause
  /** Age of the last evidence; null if there never was any. */
  readonly beatAgeMs: number | null
}

/** For holders that send heartbeats but have not registered. */
const staleMsUnregistered = 60_000

export async function getStaleTaskRuns(db: Db, query: StaleQuery = {}): Promise<StaleRun[]> {
  return (await staleStatement(query).execute(db)).rows
}

// Written in SQL: recursive, and used as a condition by the statement that recovers.
/**
 * A clock that stepped ahead ages all heartbeats at once, so the statement believes it no further than `clockMsMax`. A
 * clock that stepped back leaves signs of life in the future: a sign further ahead than the threshold does not count, and
 * below `clockMsMin` no heartbeat is judged. A loose scan of the index of held runs finds the holders, so other runs cost
 * nothing.
 */
export function staleStatement(query: StaleQuery): RawBuilder<StaleRun> {
  const { causes = staleCauses, states = ['CLAIMED', 'RUNNING'], staleMs = null, gone = [] } = query
  const seenMs = query.thresholdMsMax ?? Number.POSITIVE_INFINITY
  const sharedMs = query.sharedMsMax ?? 0
  const clock = sql`clock_timestamp()`
  const earliest = sql`to_timestamp(${query.clockMsMin ?? Number.NEGATIVE_INFINITY}::float8 / 1000)`
  const believed = sql`least(${clock}, to_timestamp(${query.clockMsMax ?? Number.POSITIVE_INFINITY}::float8 / 1000))`
  /** Whether the latest of these signs is older than the threshold; signs from the future do not count. */
  const tooOld = (signs: readonly RawBuilder<unknown>[], ownMs: RawBuilder<unknown>, beatMs: RawBuilder<unknown>) => {
    const thresholdMs = sql`coalesce(${staleMs}::float8, ${ownMs})`
    const threshold = sql`${thresholdMs} * interval '1 ms'`
    const isTrusted = sql`(${thresholdMs} <= ${seenMs}::float8
      OR (${thresholdMs} <= ${sharedMs}::float8 AND ${isStreakLongEnough(thresholdMs, beatMs)}))`
    const counting = signs.map((sign) => sql`CASE WHEN ${sign} <= ${clock} + ${threshold} THEN ${sign} END`)
    return sql`(${isTrusted} AND ${clock} >= ${earliest}
      AND coalesce(greatest(${sql.join(counting)}), '-infinity') < ${believed} - ${threshold})`
  }
  const by = (cause: StaleCause, evidence: RawBuilder<unknown>) =>
    sql`WHEN ${cause} = ANY(${causes}::text[]) AND ${evidence} THEN ${cause}`
  const claim = [sql`r.claimed_at`, sql`r.started_at`]
  const holderSigns = [sql`holders.last_heartbeat`, sql`holders.registered_at`, ...claim]
  const runSigns = [
    sql`beat.sent_at`,
    ...claim,
    sql`CASE WHEN r.claimed_at IS NULL AND r.started_at IS NULL THEN r.updated_at END`,
  ]
  const ofReplica = query.replicaId === undefined ? sql`` : sql` AND replica_id = ${query.replicaId}`
  const evidence = evidenceOf(sql`holders.replica_id`, sql`holders.gone_at`, sql`holders.last_heartbeat`)
  return sql<StaleRun>`
WITH RECURSIVE ids AS (
  (SELECT replica_id FROM q.task_run WHERE held ORDER BY replica_id LIMIT 1)
  UNION ALL
  SELECT next.replica_id FROM ids CROSS JOIN LATERAL (
    SELECT r.replica_id FROM q.task_run r WHERE r.held AND r.replica_id > ids.replica_id ORDER BY r.replica_id LIMIT 1) next
), holders AS MATERIALIZED (
  SELECT ids.replica_id, replica.name, replica.hostname, replica.started_at AS registered_at,
    replica.replica_stale_ms, replica.claimer_stale_ms, replica.runner_stale_ms,
    replica.replica_beat_ms, replica.claimer_beat_ms, replica.runner_beat_ms,
    replica.id IS NULL AND beat.replica_id IS NULL AS never_alive, beat.last_heartbeat,
    CASE WHEN presence.server_start = pg_postmaster_start_time() THEN presence.gone_at END AS gone_at
  FROM ids LEFT JOIN q.replica ON replica.id = ids.replica_id
    LEFT JOIN q.replica_heartbeat beat ON beat.replica_id = ids.replica_id
    LEFT JOIN q.presence ON presence.num = replica.num AND presence.replica_id = replica.id
), judged AS (
  SELECT r.id, r.fence, r.status, r.replica_id, holders.name, holders.hostname, CASE
    ${by('never-alive', sql`holders.never_alive`)}
    ${by('presence', sql`${evidence} = ANY(${gone}::text[])`)}
    ${by('replica-beat', tooOld(holderSigns, sql`coalesce(holders.replica_stale_ms, ${staleMsUnregistered})`, sql`holders.replica_beat_ms`))}
    ${by('claimer-beat', sql`r.status = 'CLAIMED' AND ${tooOld(runSigns, sql`holders.claimer_stale_ms`, sql`holders.claimer_beat_ms`)}`)}
    ${by('runner-beat', sql`r.status = 'RUNNING' AND ${tooOld(runSigns, sql`holders.runner_stale_ms`, sql`holders.runner_beat_ms`)}`)}
  END AS cause, extract(epoch FROM clock_timestamp() - greatest(beat.sent_at, holders.last_heartbeat)) * 1000 AS beat_age_ms
  FROM holders JOIN q.task_run r ON r.replica_id = holders.replica_id AND r.held
  LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.fence = r.fence
    AND beat.role = CASE r.status WHEN 'CLAIMED' THEN 'claimer' ELSE 'runner' END::q.beat_role
)
SELECT id, fence, status, replica_id AS "replicaId", name, hostname, cause, beat_age_ms::float8 AS "beatAgeMs"
FROM judged WHERE cause IS NOT NULL AND status = ANY(${states}::q.task_status[])${ofReplica}
ORDER BY id`
}
