/**
 * Presence: which replicas hold the lock of their session (replica-session.ts), as PostgreSQL itself sees it.
 *
 * The watcher records a missing lock only if the server has not restarted since the lock was taken, so a restart or
 * crash of the server makes no replica look dead. A replica that lost its session withdraws its row with its next
 * heartbeat, so that this layer does not apply to it in the meantime.
 *
 * In this layer the database's clock does not decide whose runs are recovered. The watcher counts the grace on its own monotonic clock, and
 * `evidence` names what it waited on: the mark and the last heartbeat. Any sign of life changes the evidence.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'

/** Namespace of the presence locks. */
export const presenceLocks = 0x71_70_72_65

/** Sent on the session that holds the lock; changes nothing if the record is correct. */
export const enterPresence = `
INSERT INTO q.presence (num, replica_id, server_start) VALUES ($1, $2, pg_postmaster_start_time())
ON CONFLICT (num) DO UPDATE SET replica_id = excluded.replica_id, server_start = excluded.server_start, gone_at = NULL
WHERE (presence.replica_id, presence.server_start, presence.gone_at) IS DISTINCT FROM
  (excluded.replica_id, excluded.server_start, NULL)`

/** Numbers of the replicas whose lock the server holds now. */
export const heldLocks: RawBuilder<{ num: number }> = sql<{ num: number }>`
  SELECT objid::int AS num FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = ${presenceLocks}::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** The evidence that a replica is gone, as text: its id, when its lock was first seen missing, and its last heartbeat. */
export function evidenceOf(
  replicaId: RawBuilder<unknown>,
  goneAt: RawBuilder<unknown>,
  lastBeat: RawBuilder<unknown>,
): RawBuilder<string> {
  return sql<string>`(${replicaId} || ' ' || extract(epoch FROM ${goneAt})::text || ' ' || coalesce(extract(epoch FROM ${lastBeat})::text, ''))`
}

export interface MissingReplica {
  readonly replicaId: string
  /** Stays the same for as long as the replica gives no sign of life. */
  readonly evidence: string
  /** Time since its lock was first seen missing, by the clock of the database; 0 if it has sent a heartbeat since. */
  readonly goneForMs: number
  /** The replica's own grace: it is not considered dead before. */
  readonly graceMs: number
}

/** Removes the record: until the replica has its lock again, this layer does not apply to it. */
export async function withdrawPresence(db: Db, replicaId: string): Promise<void> {
  await db.deleteFrom('q.presence').where('replica_id', '=', replicaId).execute()
}
