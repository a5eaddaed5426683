/**
 * Chooses the database: DATABASE_URL (an empty value is refused), or without it an embedded PostgreSQL in the workspace.
 * For programs (this package's start, the CLI); the exports of `@q/runner` never import the embedded one.
 */
import { resolve } from 'node:path'
import { ExplainedError } from '@q/schema'
import { databaseAddress } from '@q/store'

export interface ProgramDatabase {
  readonly url: string
  readonly embedded: boolean
  /** For people; never with a password. */
  readonly description: string
  /** The embedded server stops when its last user has left. */
  close(): Promise<void>
}

export interface FindOptions {
  /** Called with a sentence for people. */
  readonly notice: (sentence: string) => void
  /** What happens to the embedded server when its last user has left (`@q/embedded`). */
  readonly stay?: boolean | 'as-found'
  /** Whether to start an embedded server again if it dies before `close()`. */
  readonly revive?: boolean
}

export async function findDatabase(env: NodeJS.ProcessEnv, options: FindOptions): Promise<ProgramDatabase> {
  const url = env['DATABASE_URL']
  if (url !== undefined) {
    return { url, embedded: false, description: databaseAddress(url), close: () => Promise.resolve() }
  }
  const { startEmbedded } = await import('@q/embedded').catch((cause: unknown) => {
    throw new ExplainedError({
      code: 'DATABASE_URL_MISSING',
      what: 'No database is named.',
      why: 'DATABASE_URL is not set, and the package @q/embedded, which would start one, is not installed.',
      fix: 'Set DATABASE_URL=postgresql://user:password@host:5432/database, or install @q/embedded.',
      cause,
    })
  })
  const dataDir = env['Q_DATA_DIR']
  const server = await startEmbedded({
    onNotice: options.notice,
    stay: options.stay ?? false,
    revive: options.revive ?? false,
    ...(dataDir === undefined || dataDir === '' ? {} : { dataDir: resolve(env['INIT_CWD'] ?? '.', dataDir) }),
  })
  return {
    url: server.url,
    embedded: true,
    description: `embedded PostgreSQL ${server.version} (${server.how}) at ${databaseAddress(server.url)}, data in ${server.dataDir}`,
    close: async () => void (await server.close()),
  }
}
