/** Retires a replica that shut down and holds no run: removes its heartbeat and frees its name. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export async function retireReplica(db: Db, replicaId: string): Promise<void> {
  // Written in SQL: all records of its life are removed at once.
  await sql`
WITH stopped AS (UPDATE q.replica SET stopped_at = clock_timestamp() WHERE id = ${replicaId}),
  mark AS (DELETE FROM q.idle WHERE replica_id = ${replicaId}),
  presence AS (DELETE FROM q.presence WHERE replica_id = ${replicaId})
DELETE FROM q.replica_heartbeat WHERE replica_id = ${replicaId}`.execute(db)
}
