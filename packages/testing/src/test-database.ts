/**
 * A database for one test file: a clone of the migrated template. `drop()` closes the remaining connections and drops it.
 *
 *     await using database = await testDatabase()
 */
import { migrate } from '@q/schema'
import { databaseUrl } from './database-url.ts'
import { closingMsMax, throwIfRefused } from './left-connections.ts'
import { maintenance } from './maintenance.ts'
import { newDatabaseName } from './database-name.ts'
import { holdTemplate, migratedTemplate } from './template.ts'
import { testServer, type TestServer } from './test-server.ts'
import { withDatabase } from './with-database.ts'

export interface TestDatabaseOptions {
  /** `false` creates an empty database without the schema. */
  readonly migrated?: boolean
  /** Stop after this migration (its whole name). */
  readonly upTo?: string
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly name: string
  readonly drop: () => Promise<void>
}

export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = await testServer()
  const name = newDatabaseName()
  const url = databaseUrl(server.url, name)
  let dropping: Promise<void> | undefined
  const drop = () => (dropping ??= dropFrom(server, name))
  try {
    await create(server, name, options)
    if (options.upTo !== undefined) await withDatabase(url, (db) => migrate(db, options))
  } catch (error) {
    await drop()
    throw error
  }
  return { url, name, drop, [Symbol.asyncDispose]: drop }
}

async function create(server: TestServer, name: string, options: TestDatabaseOptions): Promise<void> {
  await using connection = await maintenance(server.url)
  if (options.migrated === false || options.upTo !== undefined) return await connection.create(name)
  const template = await migratedTemplate()
  await holdTemplate(connection, server.url, template)
  await connection.create(name, template.name)
}

async function dropFrom(server: TestServer, name: string): Promise<void> {
  try {
    await using connection = await maintenance(server.url)
    // Terminating a connection that is closing would raise an error that no caller awaits.
    const left = await connection.untilLeft(name, closingMsMax())
    await connection.drop(name, 'force')
    throwIfRefused(name, left)
  } finally {
    await server.stop()
  }
}
