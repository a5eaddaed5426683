/**
 * Migrates a database to the newest migration that this program knows, with Kysely's Migrator: all pending files in one
 * transaction, under a lock, so any number of replicas may migrate at the same time.
 *
 * Kysely reports a database that is newer than the program as corrupted. So this file compares the names first, and
 * again if the Migrator fails, because a newer program may have migrated in between.
 *
 * Programs that write runs continue. They may lock the tables of a migration in another order: the server then ends one
 * of the two transactions, and a migration that it ended begins again.
 *
 * The first call imports Kysely: worker threads load this package too, and each would pay for it.
 */
import { ExplainedError } from './explained-error.ts'
import { migrationFiles } from './migration-files.ts'
import { schemaState, type AnyDatabase } from './schema-state.ts'

export interface MigrateOptions {
  /** The full name of the last migration to apply. */
  readonly upTo?: string
}

const triesMax = 5
const deadlock = '40P01'

/** Returns the names applied by this call, oldest first. */
export async function migrate(db: AnyDatabase, options: MigrateOptions = {}): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await migrateOnce(db, options)
    } catch (error) {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
      if (code !== deadlock || tries === triesMax) throw error
    }
  }
}

async function migrateOnce(db: AnyDatabase, options: MigrateOptions): Promise<string[]> {
  const state = await schemaState(db)
  if (state.pending.length === 0) return []
  if (state.newer.length > 0) throw diverged(state)
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db,
    provider: { getMigrations },
    migrationTableSchema: 'q',
    migrationTableName: 'migration',
    migrationLockTableName: 'migration_lock',
  })
  const { error, results } = await (options.upTo === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(options.upTo))
  if (error !== undefined && (await schemaState(db)).pending.length > 0) throw error
  return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName)
}

async function getMigrations() {
  const { sql } = await import('kysely')
  const files = await migrationFiles()
  return Object.fromEntries(
    files.map((file) => [
      file.name,
      {
        // A whole file of this package, sent without parameters: PostgreSQL executes all its statements.
        up: async (db: AnyDatabase) => void (await sql.raw(file.sql).execute(db)),
      },
    ]),
  )
}

function diverged(state: { pending: readonly string[]; newer: readonly string[] }): ExplainedError {
  return new ExplainedError({
    code: 'SCHEMA_DIVERGED',
    what: `The database lacks ${state.pending.join(', ')} but has ${state.newer.join(', ')}, which this program does not know.`,
    why: 'It was migrated by a program from another line of development.',
    fix: 'Use the program that made this database, or another database.',
  })
}
