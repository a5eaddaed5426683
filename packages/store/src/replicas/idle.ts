/**
 * Marks of replicas that wait for work. A user's transaction wakes a replica at its commit only if there is a mark. A
 * replica sets its mark, claims once more, then waits: that claim finds whatever was committed before the mark was visible.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
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
 * Removes the marks of replicas whose process has died. As long as such a mark is left, every enqueue sends a
 * notification that no replica needs. Judged by presence alone: a clock that steps ahead must not remove the marks of
 * live replicas.
 */
export async function removeIdleMarksOfGone(db: Db): Promise<void> {
  await sql`DELETE FROM q.idle USING q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
    WHERE idle.replica_id = n.id AND ${isGone}`.execute(db)
}
