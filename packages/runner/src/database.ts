/**
 * Which database: DATABASE_URL, or with nothing set an embedded PostgreSQL in the workspace. For programs (this
 * package's start, the CLI); what `@q/runner` itself exports never imports the embedded one.
 */
import { ExplainedError } from '@q/schema'
import { placeOf } from '@q/store'

export interface ProgramDatabase {
  readonly url: string
  /** For people; never with a password. */
  readonly description: string
  /** The embedded server stops when its last user has left. */
  leave(): Promise<void>
}

export async function findDatabase(
  env: NodeJS.ProcessEnv,
  notice: (sentence: string) => void,
): Promise<ProgramDatabase> {
  const url = env['DATABASE_URL']
  if (url !== undefined && url !== '') {
    return { url, description: placeOf(url), leave: () => Promise.resolve() }
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
    onNotice: notice,
    ...(dataDir === undefined || dataDir === '' ? {} : { dataDir }),
  })
  return {
    url: server.url,
    description: `embedded PostgreSQL ${server.version} (${server.how}) at ${placeOf(server.url)}, data in ${server.dataDir}`,
    leave: async () => void (await server.leave()),
  }
}
