/**
 * Presence: which replicas hold the lock of their session (replica-session.ts), as PostgreSQL itself sees it.
 *
 * What was seen missing is written down with the server's life in which the lock was taken: a restarted or crashed
 * server makes nobody look dead. A replica that lost its session withdraws its row with its next beat, so that this
 * layer does not apply to it meanwhile.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'

/** Namespace of the presence locks. */
export const presenceLocks = 0x71_70_72_65

/** Sent on the session that holds the lock; changes nothing if the record is as it should be. */
export const enterPresence = `
INSERT INTO q.presence (num, replica_id, server_start) VALUES ($1, $2, pg_postmaster_start_time())
ON CONFLICT (num) DO UPDATE SET replica_id = excluded.replica_id, server_start = excluded.server_start, gone_at = NULL
WHERE (presence.replica_id, presence.server_start, presence.gone_at) IS DISTINCT FROM
  (excluded.replica_id, excluded.server_start, NULL)`

export interface Gone {
  readonly replicaId: string
  /** Since its lock was first seen missing. */
  readonly goneForMs: number
  /** Its own: it is not taken for dead before. */
  readonly graceMs: number
}

/** Until it has its lock again, this layer says nothing about the replica. */
export async function withdrawPresence(db: Db, replicaId: string): Promise<void> {
  await db.deleteFrom('q.presence').where('replica_id', '=', replicaId).execute()
}

/** Writes down which locks are missing since when, and which are back. Those that are gone and still hold runs. */
export async function markPresence(db: Db): Promise<Gone[]> {
  // A whole statement by hand: the lock table of the server, joined with ours.
  const { rows } = await sql<Gone>`
WITH held AS MATERIALIZED (
  SELECT objid::int AS num FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = ${presenceLocks}::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
), seen AS MATERIALIZED (
  SELECT p.num, p.replica_id, p.gone_at, held.num IS NULL AS gone, replica.presence_grace_ms
  FROM q.presence p JOIN q.replica ON replica.num = p.num AND replica.id = p.replica_id LEFT JOIN held ON held.num = p.num
  WHERE p.server_start = pg_postmaster_start_time()
), marked AS (
  UPDATE q.presence p SET gone_at = CASE WHEN seen.gone THEN clock_timestamp() END
  FROM seen WHERE p.num = seen.num AND (p.gone_at IS NOT NULL) <> seen.gone
)
SELECT replica_id AS "replicaId",
  greatest(0, extract(epoch FROM clock_timestamp() - coalesce(gone_at, clock_timestamp())) * 1000)::float8 AS "goneForMs",
  presence_grace_ms AS "graceMs"
FROM seen WHERE gone AND EXISTS (SELECT FROM q.task_run r WHERE r.held AND r.replica_id = seen.replica_id)`.execute(db)
  return rows
}
