/** A replica leaves in order: it holds nothing any more, so its heartbeat may go and its name is free. */
import type { Db } from '../db.ts'
import { now } from '../clock.ts'

export async function retireReplica(db: Db, replicaId: string): Promise<void> {
  await db.updateTable('q.replica').set({ stopped_at: now }).where('id', '=', replicaId).execute()
  await db.deleteFrom('q.replica_heartbeat').where('replica_id', '=', replicaId).execute()
}
