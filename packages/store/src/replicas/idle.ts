/**
 * Who waits for work. Users' own transactions wake a replica when they commit only if somebody is marked here. Set the
 * mark, then look once more, then wait: whatever was committed before the mark was seen is found by that look.
 */
import type { Db } from '../db.ts'

export async function markIdle(db: Db, replicaId: string): Promise<void> {
  await db
    .insertInto('q.idle')
    .values({ replica_id: replicaId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function markBusy(db: Db, replicaId: string): Promise<void> {
  await db.deleteFrom('q.idle').where('replica_id', '=', replicaId).execute()
}
