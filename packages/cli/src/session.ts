/**
 * What every command does around its work: find the database, tell problems in words, leave in order, set the exit
 * code. What people should know goes to stderr, what programs read to stdout.
 */
import { findDatabase, type ProgramDatabase } from '@q/runner/database'
import { exitCodeOf, problemData, problemText } from '@q/runner/problem'
import { printable } from '@q/schema'
import { connect, createStore, explainDatabaseError, migrateDatabase, requireSchema, type Store } from '@q/store'

export interface SessionOptions {
  readonly json?: boolean
  /** Leave an embedded server running. */
  readonly stay?: boolean
  /** For commands that make or look at the schema themselves. */
  readonly anySchema?: boolean
}

/** `work` returns the exit code. */
export async function session(
  options: SessionOptions,
  work: (database: ProgramDatabase) => Promise<number>,
): Promise<void> {
  try {
    const database = await findDatabase(process.env, { notice: tell, stay: options.stay ?? 'as-found' })
    try {
      if (options.anySchema !== true) await schemaReady(database)
      process.exitCode = await work(database)
    } catch (error) {
      throw await explainDatabaseError(error, database.url)
    } finally {
      await database.leave()
    }
  } catch (error) {
    if (options.json === true) print(JSON.stringify(problemData(error)))
    else tell(problemText(error, { debug: process.env['Q_DEBUG'] === '1' }))
    process.exitCode = exitCodeOf(error)
  }
}

/** An embedded database is ours alone, so it is brought up to date; another one is for its owners to migrate. */
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

export function tell(text: string): void {
  console.error(printable(text))
}

/** Prints to stdout: to a terminal without control characters, to a program the text as it is. */
export function print(text: string): void {
  console.log(process.stdout.isTTY ? printable(text) : text)
}
