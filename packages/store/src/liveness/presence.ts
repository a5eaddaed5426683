/**
 * Presence: a session that holds an advisory lock of its own. When the process dies the kernel closes the socket and
 * PostgreSQL drops the lock, which somebody who looks every second sees.
 *
 * The lock is SHARED, or a replica's own half-open old session would refuse it. What was seen missing is written down
 * with the server's life in which the lock was taken: a restarted or crashed server makes nobody look dead. A replica
 * that lost its session withdraws its row with its next beat, so that this layer does not apply to it meanwhile.
 */
import { sql } from 'kysely'
import { endSession, session, type Db } from '../db.ts'

/** Namespace of the presence locks. */
const presenceLocks = 0x71_70_72_65

export interface Presence {
  close(): void
}

/** A session of its own that says this replica is there, until closed or lost; `onLost` is called once. */
export async function openPresence(
  url: string,
  replica: { readonly id: string; readonly num: number },
  onLost: (error: Error | undefined) => void,
): Promise<Presence> {
  const client = session(url, 'presence')
  let open = true
  const lost = (error?: Error) => {
    if (open) onLost(error)
    open = false
  }
  client.on('error', lost)
  client.on('end', () => lost())
  try {
    await client.connect()
    await client.query('SET idle_session_timeout = 0')
    await client.query('SELECT pg_try_advisory_lock_shared($1, $2)', [presenceLocks, replica.num])
    await client.query(
      `INSERT INTO q.presence (num, replica_id, server_start) VALUES ($1, $2, pg_postmaster_start_time())
       ON CONFLICT (num) DO UPDATE SET replica_id = excluded.replica_id, server_start = excluded.server_start, gone_at = NULL`,
      [replica.num, replica.id],
    )
  } catch (error) {
    open = false
    endSession(client)
    throw error
  }
  return {
    close() {
      open = false
      endSession(client)
    },
  }
}

/** Until it has its lock again, this layer says nothing about the replica. */
export async function withdrawPresence(db: Db, replicaId: string): Promise<void> {
  await db.deleteFrom('q.presence').where('replica_id', '=', replicaId).execute()
}

/** Writes down which locks are missing since when, and which are back. Ids of the replicas that are gone. */
export async function markPresence(db: Db): Promise<string[]> {
  // A whole statement by hand: the lock table of the server, joined with ours.
  const { rows } = await sql<{ replica_id: string; gone: boolean }>`
WITH held AS MATERIALIZED (
  SELECT objid::int AS num FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = ${presenceLocks}::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
), marked AS (
  UPDATE q.presence p SET gone_at = CASE WHEN held.num IS NULL THEN clock_timestamp() END
  FROM q.presence seen LEFT JOIN held USING (num)
  WHERE p.num = seen.num AND (p.gone_at IS NULL) <> (held.num IS NOT NULL)
)
SELECT seen.replica_id, held.num IS NULL AS gone FROM q.presence seen LEFT JOIN held USING (num)`.execute(db)
  return rows.filter((row) => row.gone).map((row) => row.replica_id)
}
