/**
 * Prints the pending migrations as one script for psql, for people who review or run DDL manually.
 * The script takes the lock of the Migrator, refuses to run if the database has been migrated since it was printed, and
 * records itself exactly as the Migrator would, in the same transaction.
 */
import { migrationFiles } from './migration-files.ts'
import { schemaState, type AnyDatabase } from './schema-state.ts'

/** The key of Kysely's own migration lock for PostgreSQL. */
const migratorLock = '3853314791062309107'

export async function migrationScript(db: AnyDatabase): Promise<string> {
  const { applied, pending } = await schemaState(db)
  if (pending.length === 0) return '-- Nothing is pending: the schema is current.\n'
  const files = (await migrationFiles()).filter((file) => pending.includes(file.name))
  return [
    `-- ${pending.length} pending: ${pending.join(', ')}`,
    '\\set ON_ERROR_STOP on',
    'BEGIN;',
    `SELECT pg_advisory_xact_lock(${migratorLock});`,
    'CREATE SCHEMA IF NOT EXISTS q;',
    'CREATE TABLE IF NOT EXISTS q.migration (name varchar(255) NOT NULL PRIMARY KEY, timestamp varchar(255) NOT NULL);',
    'CREATE TABLE IF NOT EXISTS q.migration_lock (id varchar(255) NOT NULL PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL);',
    "INSERT INTO q.migration_lock (id, is_locked) VALUES ('migration_lock', 0) ON CONFLICT DO NOTHING;",
    refusalIfMoved(applied),
    ...files.flatMap((file) => [
      `\n-- ==== ${file.name}`,
      file.sql.trimEnd(),
      `INSERT INTO q.migration (name, timestamp) VALUES ('${file.name}', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));`,
    ]),
    '\nCOMMIT;\n',
  ].join('\n')
}

function refusalIfMoved(applied: readonly string[]): string {
  const names = applied.map((name) => `'${name}'`).join(', ')
  return `DO $$ BEGIN
  IF ARRAY(SELECT name::text FROM q.migration ORDER BY name) IS DISTINCT FROM ARRAY[${names}]::text[] THEN
    RAISE EXCEPTION 'the database has moved on since this script was printed' USING HINT = 'Print it again: q migrate --sql';
  END IF;
END $$;`
}
