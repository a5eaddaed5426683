/**
 * Samples the stats of live replicas over time: their last heartbeats, at most one row per heartbeat, so it is harmless if
 * two replicas take the samples.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { isAlive } from './alive.ts'

/** Returns the number of new samples. */
export async function sampleReplicas(db: Db): Promise<number> {
  const { rows } = await sql`
INSERT INTO q.replica_sample (replica_id, sampled_at, memory_mb, cpu_percent, active_runs, free_slots, completed, failed, health)
SELECT h.replica_id, h.last_heartbeat, h.memory_mb, h.cpu_percent, h.active_runs, h.free_slots, h.completed, h.failed, h.health
FROM q.replica_heartbeat h JOIN q.replica n ON n.id = h.replica_id WHERE ${isAlive}
ON CONFLICT DO NOTHING RETURNING replica_id`.execute(db)
  return rows.length
}
