/**
 * Removes what is left of replicas that ended long ago: their rows, presence records, idle marks, and old samples and
 * failed heartbeats of all. A replica that still holds a run stays: its thresholds are there. Finished runs name their
 * last holder by id and need no row for that; attempts and recoveries carry its host.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

export interface ReplicaPruneRequest {
  /** Since the replica's end. */
  readonly keepMs: number
  /** Of samples and failed heartbeats. */
  readonly samplesKeptMs: number
  /** Rows of each kind at a time. */
  readonly limit: number
}

export interface PrunedReplicas {
  readonly ids: string[]
  readonly samples: number
  readonly failures: number
}

export async function pruneReplicas(db: Db, request: ReplicaPruneRequest): Promise<PrunedReplicas> {
  const longAgo = (ms: number) => sql`clock_timestamp() - ${ms}::float8 * interval '1 ms'`
  // A whole statement by hand: bounded parts of several tables that have nothing to wait for in each other.
  const { rows } = await sql<PrunedReplicas>`
WITH ended AS MATERIALIZED (
  SELECT n.id, n.num FROM q.replica n WHERE n.stopped_at < ${longAgo(request.keepMs)}
    AND NOT EXISTS (SELECT FROM q.task_run r WHERE r.held AND r.replica_id = n.id)
  ORDER BY n.num LIMIT ${request.limit} FOR UPDATE SKIP LOCKED
), replicas AS (
  DELETE FROM q.replica n USING ended WHERE n.id = ended.id RETURNING n.id
), presences AS (
  DELETE FROM q.presence USING ended WHERE presence.num = ended.num
), marks AS (
  DELETE FROM q.idle USING ended WHERE idle.replica_id = ended.id
), samples AS (
  DELETE FROM q.replica_sample s USING (
    SELECT ctid FROM q.replica_sample WHERE sampled_at < ${longAgo(request.samplesKeptMs)} LIMIT ${request.limit}
  ) old WHERE s.ctid = old.ctid RETURNING 1
), failures AS (
  DELETE FROM q.heartbeat_failure f USING (
    SELECT ctid FROM q.heartbeat_failure WHERE failed_at < ${longAgo(request.samplesKeptMs)} LIMIT ${request.limit}
  ) old WHERE f.ctid = old.ctid RETURNING 1
)
SELECT coalesce((SELECT array_agg(id) FROM replicas), '{}') AS ids, (SELECT count(*)::int FROM samples) AS samples,
  (SELECT count(*)::int FROM failures) AS failures`.execute(db)
  return rows[0] ?? { ids: [], samples: 0, failures: 0 }
}
