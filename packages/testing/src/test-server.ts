/**
 * The server that test databases live on. Three places, in this order:
 * - `Q_TEST_SERVER_URL`: a surrounding test run has one already (test-run.ts);
 * - `Q_TEST_DATABASE_URL`: somebody's own server, on which the user may create databases;
 * - an embedded one in `.q/test-postgres` of the workspace, without fsync; one that runs already is joined.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface TestServer {
  /** Of its maintenance database; never written to, locks are taken there. */
  readonly url: string
  readonly stop: () => Promise<void>
}

export async function testServer(): Promise<TestServer> {
  const url = process.env.Q_TEST_SERVER_URL ?? process.env.Q_TEST_DATABASE_URL
  if (url !== undefined && url !== '') return { url, stop: async () => {} }
  // Imported late: who brings a server needs no binaries of ours.
  const { startEmbedded } = await import('@q/embedded')
  const server = await startEmbedded({ dataDir: join(workspaceOf(process.cwd()), '.q/test-postgres'), durable: false })
  return { url: server.url, stop: async () => void (await server.leave()) }
}

/** The nearest folder upwards that is the root of a workspace or a repository; else where we started. */
function workspaceOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (['pnpm-workspace.yaml', '.git'].some((mark) => existsSync(join(folder, mark)))) return folder
    if (folder === dirname(folder)) return start
  }
}
