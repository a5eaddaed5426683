/**
 * Which held runs are stale: their holder, or this run of it, has given no sign of life for longer than its own
 * registered thresholds allow. Three layers of evidence; the latest of beat, start and claim counts, and a beat of an
 * earlier fence never does.
 *
 *   never-alive    the holder has neither a replica row nor a heartbeat
 *   presence       its session lock is gone, and it has not beaten since, for longer than its grace; a claim or start
 *                  that the server had in hand when the process died may be younger than that, and shows nothing
 *   replica-beat   the replica has not beaten
 *   claimer-beat   nobody has beaten for this CLAIMED run
 *   runner-beat    nobody has beaten for this RUNNING run
 *
 * The first of those that may be used is the cause: evidence that whoever asks has no eyes for hides no other. A clock
 * that has jumped ages everybody's beats at once, so whoever asks says what it can show at most, and it is believed no further.
 * Holders are found by a loose scan of the index of held runs, so runs that nobody holds cost nothing.
 */
import type { TaskState } from '@q/schema'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'

export const staleCauses = ['never-alive', 'presence', 'replica-beat', 'claimer-beat', 'runner-beat'] as const
export type StaleCause = (typeof staleCauses)[number]

export interface StaleQuestion {
  /** Which evidence may be used; all of it unless said. */
  readonly causes?: readonly StaleCause[]
  readonly states?: readonly ('CLAIMED' | 'RUNNING')[]
  /** Instead of the holders' own thresholds, the grace among them. */
  readonly staleMs?: number
  /** Whoever asks has eyes for no longer than this: thresholds above it are not applied. */
  readonly thresholdMsMax?: number
  /** In ms since 1970: if the database's clock shows more it has jumped, or we are slow; ages of beats are reckoned by this. */
  readonly clockMsMax?: number
}

export interface StaleRun {
  readonly id: RunId
  readonly fence: number
  readonly status: TaskState
  readonly replicaId: string
  readonly hostname: string | null
  readonly cause: StaleCause
  /** Since the last evidence; null if there never was any. */
  readonly beatAgeMs: number | null
}

/** For holders that beat but have not registered. */
const staleMsUnregistered = 60_000

export async function getStaleTaskRuns(db: Db, question: StaleQuestion = {}): Promise<StaleRun[]> {
  return (await staleStatement(question).execute(db)).rows
}

// A whole statement by hand: recursive, and used as a condition by the statement that recovers.
export function staleStatement(question: StaleQuestion): RawBuilder<StaleRun> {
  const { causes = staleCauses, states = ['CLAIMED', 'RUNNING'], staleMs = null } = question
  const seenMs = question.thresholdMsMax ?? Number.POSITIVE_INFINITY
  const clock = sql`clock_timestamp()`
  const believed = sql`least(${clock}, to_timestamp(${question.clockMsMax ?? Number.POSITIVE_INFINITY}::float8 / 1000))`
  const olderThan = (sign: RawBuilder<unknown>, ownMs: RawBuilder<unknown>, now: RawBuilder<unknown>) => {
    const thresholdMs = sql`coalesce(${staleMs}::float8, ${ownMs})`
    return sql`(${thresholdMs} <= ${seenMs}::float8 AND ${sign} < ${now} - ${thresholdMs} * interval '1 ms')`
  }
  const tooOld = (sign: RawBuilder<unknown>, ownMs: RawBuilder<unknown>) => olderThan(sign, ownMs, believed)
  const by = (cause: StaleCause, evidence: RawBuilder<unknown>) =>
    sql`WHEN ${cause} = ANY(${causes}::text[]) AND ${evidence} THEN ${cause}`
  const ownSign = sql`greatest(holders.last_heartbeat, holders.registered_at)`
  const holderSign = sql`greatest(${ownSign}, r.claimed_at, r.started_at)`
  const runSign = sql`coalesce(greatest(beat.sent_at, r.claimed_at, r.started_at), r.updated_at)`
  return sql<StaleRun>`
WITH RECURSIVE ids AS (
  (SELECT replica_id FROM q.task_run WHERE held ORDER BY replica_id LIMIT 1)
  UNION ALL
  SELECT next.replica_id FROM ids CROSS JOIN LATERAL (
    SELECT r.replica_id FROM q.task_run r WHERE r.held AND r.replica_id > ids.replica_id ORDER BY r.replica_id LIMIT 1) next
), holders AS MATERIALIZED (
  SELECT ids.replica_id, replica.hostname, replica.started_at AS registered_at,
    replica.replica_stale_ms, replica.claimer_stale_ms, replica.runner_stale_ms, replica.presence_grace_ms,
    replica.id IS NULL AND beat.replica_id IS NULL AS never_alive, beat.last_heartbeat,
    CASE WHEN presence.server_start = pg_postmaster_start_time() THEN presence.gone_at END AS gone_at
  FROM ids LEFT JOIN q.replica ON replica.id = ids.replica_id
    LEFT JOIN q.replica_heartbeat beat ON beat.replica_id = ids.replica_id
    LEFT JOIN q.presence ON presence.num = replica.num AND presence.replica_id = replica.id
), judged AS (
  SELECT r.id, r.fence, r.status, r.replica_id, holders.hostname, CASE
    ${by('never-alive', sql`holders.never_alive`)}
    ${by('presence', sql`${ownSign} < holders.gone_at AND ${olderThan(sql`holders.gone_at`, sql`holders.presence_grace_ms`, clock)}`)}
    ${by('replica-beat', tooOld(holderSign, sql`coalesce(holders.replica_stale_ms, ${staleMsUnregistered})`))}
    ${by('claimer-beat', sql`r.status = 'CLAIMED' AND ${tooOld(runSign, sql`holders.claimer_stale_ms`)}`)}
    ${by('runner-beat', sql`r.status = 'RUNNING' AND ${tooOld(runSign, sql`holders.runner_stale_ms`)}`)}
  END AS cause, extract(epoch FROM clock_timestamp() - greatest(beat.sent_at, holders.last_heartbeat)) * 1000 AS beat_age_ms
  FROM holders JOIN q.task_run r ON r.replica_id = holders.replica_id AND r.held
  LEFT JOIN q.task_heartbeat beat ON beat.run_id = r.id AND beat.fence = r.fence
    AND beat.role = CASE r.status WHEN 'CLAIMED' THEN 'claimer' ELSE 'runner' END::q.beat_role
)
SELECT id, fence, status, replica_id AS "replicaId", hostname, cause, beat_age_ms::float8 AS "beatAgeMs"
FROM judged WHERE cause IS NOT NULL AND status = ANY(${states}::q.task_status[])
ORDER BY id`
}
