/**
 * Runs once before the first file of a test suite: starts a server that stays up between files, builds and locks the
 * template, and drops orphaned databases. Later processes find the server through `Q_TEST_SERVER_URL`.
 */
import { maintenance, type Maintenance } from './maintenance.ts'
import { isOrphaned, databasePrefix } from './database-name.ts'
import { holdTemplate, migratedTemplate } from './template.ts'
import { testServer } from './test-server.ts'

export interface TestRun {
  readonly url: string
  readonly end: () => Promise<void>
}

export async function testRun(): Promise<TestRun> {
  const server = await testServer()
  const connection = await maintenance(server.url)
  await dropLeftOvers(connection)
  await holdTemplate(connection, server.url, await migratedTemplate())
  const before = process.env.Q_TEST_SERVER_URL
  process.env.Q_TEST_SERVER_URL = server.url
  return {
    url: server.url,
    end: async () => {
      if (before === undefined) delete process.env.Q_TEST_SERVER_URL
      else process.env.Q_TEST_SERVER_URL = before
      await dropLeftOvers(connection)
      await connection[Symbol.asyncDispose]()
      await server.stop()
    },
  }
}

/** Keeps an orphaned database that has connections: a developer may be inspecting it. */
async function dropLeftOvers(server: Maintenance): Promise<void> {
  for (const name of (await server.databases(databasePrefix)).filter(isOrphaned))
    await server.drop(name).catch(unlessInUse)
}

function unlessInUse(error: unknown): void {
  const objectInUse = '55006'
  if (!(error instanceof Error && 'code' in error && error.code === objectInUse)) throw error
}
