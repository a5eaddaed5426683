/** Reads the version, connections and settings of the server that q depends on. Takes no locks. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface ServerFacts {
  readonly database: string
  /** For people: `18.4`. */
  readonly version: string
  readonly versionNumber: number
  readonly isStandby: boolean
  readonly startedAt: Date
  /** The server's clock. */
  readonly now: Date
  readonly connections: { readonly used: number; readonly max: number }
  /** Standbys that stream from the server, and the number of synchronous ones that commits wait for. */
  readonly standbys: { readonly all: number; readonly synchronous: number }
  readonly settings: Readonly<Record<ServerSetting, string>>
}

const settingNames = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'autovacuum',
  'track_counts',
  'idle_session_timeout',
  'idle_in_transaction_session_timeout',
  'statement_timeout',
  'tcp_keepalives_idle',
  'wal_level',
  'transaction_read_only',
] as const
export type ServerSetting = (typeof settingNames)[number]

export async function inspectServer(db: Db): Promise<ServerFacts> {
  const settings = sql.join(settingNames.map((name) => sql`${name}::text, current_setting(${name}::text)`))
  // Sessions of the database's own workers need no connection.
  const { rows } = await sql<ServerFacts>`
SELECT current_database() AS database, split_part(current_setting('server_version'), ' ', 1) AS version,
  current_setting('server_version_num')::int AS "versionNumber", pg_is_in_recovery() AS "isStandby",
  pg_postmaster_start_time() AS "startedAt", clock_timestamp() AS now,
  jsonb_build_object('used', (SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender')),
    'max', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int) AS connections,
  (SELECT jsonb_build_object('all', count(*), 'synchronous', count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))
    FROM pg_stat_replication) AS standbys,
  jsonb_build_object(${settings}) AS settings`.execute(db)
  const [facts] = rows
  if (facts === undefined) throw new Error('The server answered without a row.')
  return facts
}
