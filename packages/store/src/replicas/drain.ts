/**
 * Somebody asks a replica to leave, or takes it back. The replica learns of it from a wake, or from the answer to its
 * next heartbeat. What it holds stays with it until it has settled or the deadline has passed.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { fromNow, now } from '../clock.ts'

export async function drainReplica(
  db: Db,
  replicaId: string,
  order: { readonly by: string; readonly deadlineMs?: number },
): Promise<'draining' | 'not-found'> {
  const asked = await db
    .updateTable('q.replica')
    .set((row) => ({
      draining_at: row.fn.coalesce('draining_at', now),
      draining_by: row.fn.coalesce('draining_by', row.val(order.by)),
      // Without one of its own, an order leaves the deadline of an earlier one as it is.
      drain_deadline: order.deadlineMs === undefined ? row.ref('drain_deadline') : fromNow(order.deadlineMs),
    }))
    .where('id', '=', replicaId)
    .where('stopped_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (asked === undefined) return 'not-found'
  await sql`SELECT pg_notify('q_drain', ${replicaId})`.execute(db)
  return 'draining'
}

/** For a replica that has not left yet. */
export async function undrainReplica(db: Db, replicaId: string): Promise<'claiming' | 'not-found'> {
  const back = await db
    .updateTable('q.replica')
    .set({ draining_at: null, draining_by: null, drain_deadline: null })
    .where('id', '=', replicaId)
    .where('stopped_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return back === undefined ? 'not-found' : 'claiming'
}
