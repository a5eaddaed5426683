/** Reads the version, connections and settings of the server that q depends on. Takes no locks. */
import { sql, type RawBuilder } from 'kysely'
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
  /** Where each setting comes from, as pg_settings says: `default`, `configuration file`, `command line`, `database`, … */
  readonly sources: Readonly<Record<ServerSetting, string>>
  /** The login of this session. */
  readonly user: string
  /** Whether it sees what sessions of other users do: it has pg_read_all_stats. */
  readonly seesSessions: boolean
  /** The database of the server with the oldest transaction id, by age in transactions, and the age at which autovacuum acts. */
  readonly oldestXid: XidAge
  readonly oldestMultixact: XidAge
}

export interface XidAge {
  readonly database: string
  readonly age: number
  readonly vacuumedAt: number
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
  // PostgreSQL 13 does not know idle_session_timeout: it must be able to say that it is too old.
  const settings = sql.join(
    settingNames.map((name) => sql`${name}::text, coalesce(current_setting(${name}::text, true), '0')`),
  )
  const seesAll = sql`pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`
  const oldest = (age: RawBuilder<number>, limit: string) => sql`(
    SELECT jsonb_build_object('database', datname, 'age', ${age}, 'vacuumedAt', current_setting(${limit}::text)::float8)
    FROM pg_database ORDER BY ${age} DESC LIMIT 1)`
  // Sessions of the database's own workers need no connection. Without the right to see them, their kind is hidden.
  const { rows } = await sql<ServerFacts>`
SELECT current_database() AS database, split_part(current_setting('server_version'), ' ', 1) AS version,
  current_setting('server_version_num')::int AS "versionNumber", pg_is_in_recovery() AS "isStandby",
  pg_postmaster_start_time() AS "startedAt", clock_timestamp() AS now,
  jsonb_build_object('used', CASE WHEN ${seesAll}
      THEN (SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender'))
      ELSE (SELECT sum(numbackends) FROM pg_stat_database) END,
    'max', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int) AS connections,
  (SELECT jsonb_build_object('all', count(*), 'synchronous', count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))
    FROM pg_stat_replication) AS standbys,
  jsonb_build_object(${settings}) AS settings,
  (SELECT jsonb_object_agg(s.name, s.source) FROM pg_settings s WHERE s.name = ANY(${settingNames}::text[])) AS sources,
  current_user::text AS "user", ${seesAll} AS "seesSessions",
  ${oldest(sql`age(datfrozenxid)`, 'autovacuum_freeze_max_age')} AS "oldestXid",
  ${oldest(sql`mxid_age(datminmxid)`, 'autovacuum_multixact_freeze_max_age')} AS "oldestMultixact"`.execute(db)
  const [facts] = rows
  if (facts === undefined) throw new Error('The server answered without a row.')
  return facts
}
