/**
 * Removes the heartbeats of replicas that have been silent for long; the rows, presence records and idle marks of
 * replicas that ended long ago; and old samples and failed heartbeats. A replica that still holds a run stays: its
 * thresholds are needed. Ended runs name their last holder by id and need no row; attempts and recoveries have its
 * host.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface ReplicaPruneRequest {
  /** How long a replica is kept after its end. */
  readonly keepMs: number
  /** How long samples and failed heartbeats are kept. */
  readonly samplesKeptMs: number
  /** The most rows of each kind in one call. */
  readonly limit: number
}

export interface PrunedReplicas {
  readonly ids: string[]
  readonly samples: number
  readonly failures: number
}

export async function pruneReplicas(db: Db, request: ReplicaPruneRequest): Promise<PrunedReplicas> {
  const longAgo = (ms: number) => sql`clock_timestamp() - ${ms}::float8 * interval '1 ms'`
  // Written in SQL: limited parts of several tables that do not depend on each other.
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

/**
 * Removes the heartbeats of replicas that have been silent for this long and hold no run: without the row of a held run's
 * holder, the holder would look as if it had never been alive. Such a replica counts as stopped at its last heartbeat; if
 * it returns, the response to its next heartbeat says so. Returns the ids of the replicas.
 */
export async function deleteStaleReplicaHeartbeats(
  db: Db,
  olderThanMs: number,
): Promise<{ ids: string[]; count: number }> {
  const { rows } = await sql<{ replica_id: string }>`
WITH removed AS (
  DELETE FROM q.replica_heartbeat h WHERE last_heartbeat < clock_timestamp() - ${olderThanMs}::float8 * interval '1 ms'
    AND NOT EXISTS (SELECT FROM q.task_run r WHERE r.held AND r.replica_id = h.replica_id)
  RETURNING replica_id, last_heartbeat
), ended AS (
  UPDATE q.replica n SET stopped_at = removed.last_heartbeat FROM removed WHERE n.id = removed.replica_id AND n.stopped_at IS NULL
), idle AS (
  DELETE FROM q.idle USING removed WHERE idle.replica_id = removed.replica_id
)
SELECT replica_id FROM removed`.execute(db)
  const ids = rows.map((row) => row.replica_id)
  return { ids, count: ids.length }
}
