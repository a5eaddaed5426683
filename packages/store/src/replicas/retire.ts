/** A replica leaves in order: it holds nothing any more, so its heartbeat may go and its name is free. */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

export async function retireReplica(db: Db, replicaId: string): Promise<void> {
  // A whole statement by hand: all that says it is there goes at once.
  await sql`
WITH stopped AS (UPDATE q.replica SET stopped_at = clock_timestamp() WHERE id = ${replicaId}),
  mark AS (DELETE FROM q.idle WHERE replica_id = ${replicaId}),
  presence AS (DELETE FROM q.presence WHERE replica_id = ${replicaId})
DELETE FROM q.replica_heartbeat WHERE replica_id = ${replicaId}`.execute(db)
}
