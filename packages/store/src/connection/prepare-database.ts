/**
 * Checks that the database can be used and that its schema is current. Every program does so at its start, so that a
 * problem is reported before anything is done.
 */
import { ExplainedError, migrate, migrationScript, schemaState, type SchemaState } from '@q/schema'
import { sql, type Kysely } from 'kysely'
import type { DB } from '@q/schema'
import { explainDatabaseError, oldestServer, readOnly } from './database-problem.ts'
import { databaseAddress } from './database-url.ts'
import { connect } from './db.ts'
import { olderReplicas, type OlderReplica } from '../reads/nodes/older-replicas.ts'

/** Migrates over a connection of its own; returns the names applied now. */
export function migrateDatabase(url: string): Promise<string[]> {
  return withDatabase(url, migrate)
}

export interface MigrationPlan {
  readonly pending: readonly string[]
  /** Migrations of the database that this program does not know. */
  readonly newer: readonly string[]
  /** Live replicas that do not know all migrations of this program. */
  readonly olderReplicas: readonly OlderReplica[]
}

/** Returns what `migrateDatabase` would apply, and the live replicas whose schema it would change. */
export function migrationPlan(url: string): Promise<MigrationPlan> {
  return withDatabase(url, async (db) => {
    const { pending, newer } = await schemaState(db)
    return { pending, newer, olderReplicas: await olderReplicas(db) }
  })
}

/** Returns the pending migrations as a script for psql. */
export function pendingScript(url: string): Promise<string> {
  return withDatabase(url, migrationScript)
}

/** For programs that do not migrate: rejects a schema that is behind. */
export async function requireSchema(url: string): Promise<SchemaState> {
  const state = await withDatabase(url, schemaState)
  if (state.pending.length === 0) return state
  const isNew = state.applied.length === 0
  throw new ExplainedError({
    code: 'SCHEMA_BEHIND',
    what: isNew
      ? `The database at ${databaseAddress(url)} has no schema q yet.`
      : `The database at ${databaseAddress(url)} lacks ${state.pending.length === 1 ? 'migration' : 'migrations'} ${state.pending.join(', ')}.`,
    why: isNew ? 'It was never migrated.' : 'An older release migrated it.',
    fix: 'Run: q migrate',
  })
}

async function withDatabase<T>(url: string, use: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const connection = connect(url, { purpose: 'migrate' })
  try {
    await assertUsable(connection.db, url)
    return await use(connection.db)
  } catch (error) {
    throw await explainDatabaseError(error, url)
  } finally {
    await connection.close()
  }
}

async function assertUsable(db: Kysely<DB>, url: string): Promise<void> {
  const { rows } = await sql<{ version: number; name: string; read_only: boolean }>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
      pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only`.execute(db)
  const server = rows[0]
  if (server === undefined || server.version < oldestServer * 10_000) {
    throw new ExplainedError({
      code: 'DATABASE_TOO_OLD',
      what: `The database at ${databaseAddress(url)} is PostgreSQL ${server?.name ?? '?'}.`,
      why: `q needs PostgreSQL ${oldestServer} or newer.`,
      fix: 'Upgrade the server, or use another one.',
    })
  }
  if (server.read_only) throw new ExplainedError(readOnly(` at ${databaseAddress(url)}`))
}
