/**
 * Runs a command: finds the database, checks its schema, explains problems, closes everything, and sets
 * the exit code. With `--json` a problem is a document on stdout too.
 */
import { findDatabase, type ProgramDatabase } from '@q/runner/database'
import { exitCodeOf, problemData, problemText } from '@q/runner/report-error'
import { connect, createStore, explainDatabaseError, migrateDatabase, requireSchema, type Store } from '@q/store'
import { patiently } from './patience.ts'
import type { Terminal } from './terminal.ts'

interface DatabaseCommandOptions {
  readonly json?: boolean
  /** Leave an embedded server running. */
  readonly stay?: boolean
  /** For commands that create or inspect the schema themselves. */
  readonly anySchema?: boolean
}

/** `work` returns the exit code. */
export async function runWithDatabase(
  terminal: Terminal,
  options: DatabaseCommandOptions,
  work: (database: ProgramDatabase) => Promise<number>,
): Promise<void> {
  try {
    const notice = (sentence: string) => terminal.tell(sentence)
    const database = await findDatabase(terminal.env, { notice, stay: options.stay ?? 'as-found' })
    try {
      if (options.anySchema !== true)
        await patiently(
          terminal,
          () => 'waiting for the database',
          () => schemaReady(database),
        )
      terminal.exitCode = await work(database)
    } catch (error) {
      throw await explainDatabaseError(error, database.url)
    } finally {
      await database.close()
    }
  } catch (error) {
    reportProblem(terminal, error, options)
  }
}

export function reportProblem(
  terminal: Terminal,
  error: unknown,
  { json }: Pick<DatabaseCommandOptions, 'json'>,
): void {
  if (json === true) terminal.printData(JSON.stringify(problemData(error)))
  else terminal.tell(problemText(error, { debug: terminal.env['Q_DEBUG'] === '1' }))
  terminal.exitCode = exitCodeOf(error)
}

/** The embedded database belongs to this workspace alone, so the command migrates it; the owners of another database migrate it. */
async function schemaReady(database: ProgramDatabase): Promise<void> {
  if (database.embedded) await migrateDatabase(database.url)
  else await requireSchema(database.url)
}

export async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const connection = connect(url, { purpose: 'pool', connectionsMax: 1 })
  try {
    return await use(createStore(connection.db))
  } finally {
    await connection.close()
  }
}
