/**
 * What one run of a test suite does once, before its first file: a server that stays up between the files, the
 * template built and held, the databases of runs that died dropped. Processes started afterwards find the server by
 * `Q_TEST_SERVER_URL`.
 */
import { maintenance, type Maintenance } from './maintenance.ts'
import { isOfTheDead, prefix } from './owner.ts'
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

/** A database whose owner is dead but that somebody is connected to stays: it may be looked at. */
async function dropLeftOvers(server: Maintenance): Promise<void> {
  for (const name of (await server.databases(prefix)).filter(isOfTheDead)) await server.drop(name).catch(unlessInUse)
}

function unlessInUse(error: unknown): void {
  const objectInUse = '55006'
  if (!(error instanceof Error && 'code' in error && error.code === objectInUse)) throw error
}
