/**
 * Who waits for work. Users' own transactions wake a replica when they commit only if somebody is marked here. Set the
 * mark, then look once more, then wait: whatever was committed before the mark was seen is found by that look.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { isGone } from './alive.ts'

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

/**
 * Removes the marks of replicas whose process has died. As long as one is left, every enqueue notifies, and no replica
 * needs it. Judged by presence alone: a clock that steps ahead must not remove the marks of living replicas.
 */
export async function removeIdleMarksOfGone(db: Db): Promise<void> {
  await sql`DELETE FROM q.idle USING q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
    WHERE idle.replica_id = n.id AND ${isGone}`.execute(db)
}
