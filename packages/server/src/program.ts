/** Starts the server of a program: settings and token from the environment, the page from this package. */
import { existsSync } from 'node:fs'
import { readOrMakeToken } from './auth/token-file.ts'
import { tokenPlace } from './auth/token-place.ts'
import { builtPage } from './page/built-page.ts'
import { startMetricsServer, type MetricsServer } from './metrics/metrics-server.ts'
import { startServer, type Server, type ServerOptions } from './server.ts'
import { readHttpSettings, tokenMissing } from './settings.ts'

export interface PageServer extends Server {
  /** The link with the token after the #, which browsers do not send. For terminals, never for logs. */
  readonly link: string
}

export type PageOptions = Pick<ServerOptions, 'databaseUrl' | 'version' | 'isDraining' | 'readMetrics' | 'onFault'>

/** Reads the settings at once, and throws if one is wrong; the returned function starts the server. */
export function prepareServer(env: NodeJS.ProcessEnv): (options: PageOptions) => Promise<PageServer> {
  const settings = readHttpSettings(env)
  const { address, tokenFile: named } = settings
  // A path that names no file is a mistake: a token made there would be one that its owner did not choose.
  if (address !== undefined && named !== undefined && !existsSync(tokenPlace(env)))
    throw tokenMissing(address, `Q_HTTP_TOKEN_FILE names ${named}, which does not exist.`)
  return async (options) => {
    // If there are only named tokens, no token can be printed.
    const isNamedOnly = settings.tokensFile !== undefined && settings.tokenFile === undefined
    const tokenFile = isNamedOnly && settings.address !== undefined ? undefined : tokenPlace(env)
    const token = tokenFile === undefined ? undefined : readOrMakeToken(tokenFile)
    const server = await startServer({ ...options, settings, tokenFile, page: await builtPage() })
    return { ...server, link: token === undefined ? server.url : `${server.url}/#token=${token}` }
  }
}

/** The same for metrics without a page. Undefined: no separate address is configured for them. */
export function prepareMetrics(env: NodeJS.ProcessEnv): ((options: PageOptions) => Promise<MetricsServer>) | undefined {
  const { metrics } = readHttpSettings(env)
  return metrics && ((options) => startMetricsServer(metrics, options))
}
