/**
 * Compares a database's schema with this program: which migrations are applied and pending, and whether the program may
 * use the database.
 *
 * A newer database is accepted, so that replicas can be upgraded one after the other, unless a migration has declared
 * programs of this level too old (`q.compatibility`).
 *
 * Kysely is imported by the first call, as in migrate.ts.
 */
import type { Kysely } from 'kysely'
import { ExplainedError } from './explained-error.ts'
import { migrationFiles, programLevel } from './migration-files.ts'

export interface SchemaState {
  /** Names of applied migrations, oldest first; empty in a database without our schema. */
  readonly applied: readonly string[]
  /** Names this program knows and the database lacks, oldest first. */
  readonly pending: readonly string[]
  /** Names the database has and this program does not know. */
  readonly newer: readonly string[]
}

// oxlint-disable-next-line typescript/no-explicit-any -- a database at any migration
export type AnyDatabase = Kysely<any>

/** Reads the state. Throws PROGRAM_TOO_OLD if the database requires a newer program. Writes nothing. */
export async function schemaState(db: AnyDatabase): Promise<SchemaState> {
  const known = (await migrationFiles()).map((file) => file.name)
  const applied = await appliedMigrations(db)
  const newer = applied.filter((name) => !known.includes(name))
  if (newer.length > 0) await refuseIfTooOld(db, await programLevel(), newer)
  return { applied, newer, pending: known.filter((name) => !applied.includes(name)) }
}

async function appliedMigrations(db: AnyDatabase): Promise<string[]> {
  const { sql } = await import('kysely')
  const present = await sql<{ present: boolean }>`select to_regclass('q.migration') is not null as present`.execute(db)
  if (!present.rows[0]?.present) return []
  const rows = await sql<{ name: string }>`select name from q.migration order by name`.execute(db)
  return rows.rows.map((row) => row.name)
}

async function refuseIfTooOld(db: AnyDatabase, level: number, newer: readonly string[]): Promise<void> {
  const { sql } = await import('kysely')
  const rows = await sql<{ oldest_program: number }>`select oldest_program from q.compatibility`.execute(db)
  const oldest = rows.rows[0]?.oldest_program ?? 0
  if (oldest <= level) return
  throw new ExplainedError({
    code: 'PROGRAM_TOO_OLD',
    what: `This program knows the database up to migration ${level}, but the database demands at least ${oldest}.`,
    why: `A newer release has migrated it (${newer.join(', ')}) in a way that programs of this age cannot work with.`,
    fix: 'Upgrade this program to the release the rest of the cluster runs. Restarting it will not help.',
  })
}
