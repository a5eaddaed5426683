/**
 * Heartbeat rows of replicas that have not beaten for so long are removed. Only those that hold nothing: a row that
 * vanished under a held run would make its holder look as if it had never been alive. From then on the replica counts
 * as stopped, at the time of its last beat; one that comes back after all is told so by its next beat's answer.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

/** Ids of the replicas whose rows were removed. */
export async function deleteStaleReplicaHeartbeats(
  db: Db,
  olderThanMs: number,
): Promise<{ ids: string[]; count: number }> {
  const { rows } = await sql<{ replica_id: string }>`
WITH gone AS (
  DELETE FROM q.replica_heartbeat h WHERE last_heartbeat < clock_timestamp() - ${olderThanMs}::float8 * interval '1 ms'
    AND NOT EXISTS (SELECT FROM q.task_run r WHERE r.held AND r.replica_id = h.replica_id)
  RETURNING replica_id, last_heartbeat
), ended AS (
  UPDATE q.replica n SET stopped_at = gone.last_heartbeat FROM gone WHERE n.id = gone.replica_id AND n.stopped_at IS NULL
), idle AS (
  DELETE FROM q.idle USING gone WHERE idle.replica_id = gone.replica_id
)
SELECT replica_id FROM gone`.execute(db)
  const ids = rows.map((row) => row.replica_id)
  return { ids, count: ids.length }
}
