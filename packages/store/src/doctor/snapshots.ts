/**
 * Reads what keeps PostgreSQL from removing dead rows: old snapshots of sessions, prepared transactions and replication
 * slots. While one of them holds `xmin`, every dead version of a run stays in the indexes that claims read. Oldest
 * first. Takes no locks.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface SnapshotHolder {
  /** `standby`: the connection of a standby without a slot, which reports the oldest snapshot there. */
  readonly kind: 'session' | 'standby' | 'prepared' | 'slot'
  /** The pid of a session, or of the sender of a standby. */
  readonly pid: number | null
  /** The name of the session or the slot, or the id of the prepared transaction. */
  readonly name: string
  readonly user: string | null
  readonly state: string | null
  /** Null: not recorded, as for a slot or a standby. */
  readonly forMs: number | null
  /** Transactions since then. */
  readonly age: number
  readonly query: string | null
}

const holdersMax = 10

export async function inspectSnapshots(db: Db): Promise<SnapshotHolder[]> {
  const since = (time: string) => sql`(extract(epoch FROM clock_timestamp() - ${sql.ref(time)}) * 1000)::float8`
  const { rows } = await sql<SnapshotHolder>`
SELECT * FROM (
  SELECT CASE backend_type WHEN 'walsender' THEN 'standby' ELSE 'session' END AS kind, pid, coalesce(nullif(application_name, ''), backend_type) AS name, usename::text AS "user", state,
    ${since('xact_start')} AS "forMs", age(backend_xmin) AS age, left(query, 200) AS query
  FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
    AND (datname = current_database() OR datname IS NULL) AND backend_type IN ('client backend', 'walsender')
  UNION ALL
  SELECT 'prepared', NULL, gid, owner::text, 'prepared', ${since('prepared')}, age(transaction), NULL
  FROM pg_prepared_xacts WHERE database = current_database()
  UNION ALL
  SELECT 'slot', active_pid, slot_name::text, NULL, CASE WHEN active THEN 'active' ELSE 'inactive' END, NULL,
    age(xmin), NULL
  FROM pg_replication_slots WHERE xmin IS NOT NULL
) holders ORDER BY "forMs" DESC NULLS LAST, age DESC LIMIT ${holdersMax}`.execute(db)
  return rows
}
