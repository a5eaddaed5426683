/** The composition root of the server: connections, guards, handlers, live stream, page; then it listens. */
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { askedAnswer, databaseAddress } from '@q/store'
import { apiRoutes } from './api/routes.ts'
import { openApiDocument } from './api/openapi.ts'
import type { Session } from './api/session.ts'
import type { Identity } from './auth/identify.ts'
import { createSessions } from './auth/sessions.ts'
import { createTokens } from './auth/tokens.ts'
import { openServerConnections, type ServerConnections } from './connections.ts'
import { createHandlers } from './handlers/handlers.ts'
import { allowedHosts, urlOf } from './http/allowed-hosts.ts'
import { createApp, unreadable } from './http/app.ts'
import { discardBody } from './http/discard-body.ts'
import { createProbes, hasAnswered } from './http/probes.ts'
import { createRate } from './http/rate.ts'
import type { Sent } from './http/route-call.ts'
import { securityHeaders } from './http/security-headers.ts'
import { changesPerSecond, type Audit } from './http/serve-route.ts'
import { listenHttp, type Listening } from './listen.ts'
import { createLive, type Live } from './live/hub.ts'
import { createMetrics } from './metrics/metrics.ts'
import { openMetricsPort, type MetricsPortDeps } from './metrics/metrics-port.ts'
import type { Readings } from './metrics/readings.ts'
import { createAssets } from './page/assets.ts'
import type { BuiltPage } from './page/built-page.ts'
import { createSecrets } from './secrets/secrets.ts'
import type { HttpSettings } from './settings.ts'

export interface ServerOptions {
  readonly databaseUrl: string
  readonly settings: HttpSettings
  /** The file of the default token. Undefined: only named tokens are accepted. */
  readonly tokenFile: string | undefined
  readonly version: string
  /** Undefined: serves a page that explains how to build it. */
  readonly page?: BuiltPage
  /** Whether the replica that serves this is draining. */
  readonly isDraining?: () => boolean
  /** The counts of that replica, for metrics. */
  readonly readMetrics?: () => Readings
  /** Receives internal errors, for the log. */
  readonly onFault?: (error: unknown, what: string) => void
  readonly headersMs?: number
  /** For tests: the burst of actions of one token, so that tests do not depend on the machine's speed. */
  readonly actionsAtOnce?: number
  /** For tests: the clock by which sessions expire. */
  readonly now?: () => number
  /** For tests: answers must match their schemas. */
  readonly checkAnswers?: boolean
}

export interface Server {
  /** `http://127.0.0.1:7780`, or the configured origin. */
  readonly url: string
  readonly port: number
  /** The separate port for metrics and probes, if one is configured. */
  readonly metricsPort?: number
  readonly live: { readonly streams: number; readonly topics: number }
  close(why?: string): Promise<void>
}

const failuresPerMinute = 10

export async function startServer(options: ServerOptions): Promise<Server> {
  const { databaseUrl, settings, tokenFile, version, onFault = () => {} } = options
  const { address, origin, tokensFile, readOnly } = settings
  const isHttps = origin?.startsWith('https:') ?? false
  const tokens = createTokens({ ...(tokenFile && { tokenFile }), ...(tokensFile && { tokensFile }) })
  const connections = openServerConnections(databaseUrl, createSecrets(settings.hide))
  const live = createLive(connections.reads, databaseUrl)
  const probes = createProbes({
    started: hasAnswered(connections.reads),
    draining: options.isDraining ?? (() => false),
  })
  const metrics = createMetrics({
    reads: connections.reads,
    replica: options.readMetrics,
    streams: () => live.streams,
    onFault,
  })
  const openApi = openApiDocument(apiRoutes, version)
  // The port is known once the server listens; no request comes earlier.
  const own = { hosts: new Map() as ReadonlyMap<string, string>, cookieName: '' }
  const app = createApp({
    databaseUrl,
    readOnly,
    isHttps,
    live,
    onFault,
    guards: { tokens, sessions: createSessions(tokens, options.now), cookieName: () => own.cookieName },
    describe: (who) => describe(options, who),
    hosts: () => own.hosts,
    isReachable: address !== undefined,
    headers: securityHeaders(isHttps),
    probes,
    metrics,
    handlers: createHandlers({ ...connections, version }),
    assets: createAssets(options.page ?? { folder: undefined }, onFault),
    openApi: () => openApi,
    failures: createRate({ burst: failuresPerMinute, perSecond: failuresPerMinute / 60 }),
    rates: {
      action: createRate({
        burst: options.actionsAtOnce ?? changesPerSecond.action,
        perSecond: changesPerSecond.action,
      }),
      work: createRate({ burst: changesPerSecond.work, perSecond: changesPerSecond.work }),
    },
    audit: auditOf(connections, live, onFault),
    checkAnswers: options.checkAnswers ?? false,
  })
  const answer = requestListener(app, securityHeaders(isHttps))
  const scraped = await metricsPort(options, { metrics, probes, onFault }).catch(async (error: unknown) => {
    await connections.close()
    throw error
  })
  try {
    const { port, close } = await listenHttp((incoming, outgoing) => void answer(incoming, outgoing), {
      ...settings,
      ...(options.headersMs !== undefined && { headersMs: options.headersMs }),
    })
    own.hosts = allowedHosts({ ...settings, port })
    own.cookieName = isHttps ? '__Host-q' : `q_${port}`
    return {
      url: origin ?? urlOf(address ?? '127.0.0.1', port),
      port,
      ...(scraped && { metricsPort: scraped.port }),
      live,
      async close(why = 'The server is stopping.') {
        live.close(why)
        await Promise.all([close(), scraped?.close()])
        await connections.close()
      },
    }
  } catch (error) {
    await scraped?.close()
    await connections.close()
    throw error
  }
}

function requestListener(app: ReturnType<typeof createApp>, headers: Readonly<Record<string, string>>) {
  const fetch = async (request: Request, bindings: HttpBindings): Promise<Response> => {
    const response = await app.fetch(request, bindings)
    await discardBody(bindings.incoming)
    return response
  }
  return getRequestListener((request, bindings) => fetch(request, bindings as HttpBindings), {
    overrideGlobalObjects: false,
    // Reached only if Host or path is not a valid part of a URL.
    errorHandler: () => unreadable(headers),
  })
}

/** Undefined: no separate port is configured for metrics. */
async function metricsPort({ settings }: ServerOptions, deps: MetricsPortDeps): Promise<Listening | undefined> {
  return settings.metrics === undefined ? undefined : openMetricsPort(settings.metrics, deps)
}

function describe({ databaseUrl, settings, version }: ServerOptions, who: Identity): Sent<Session> {
  return {
    name: who.name,
    scope: who.scope,
    expiresAt: who.expiresAt,
    readOnly: settings.readOnly,
    badge: settings.badge,
    version,
    database: databaseOf(databaseUrl),
    now: new Date(),
  }
}

function databaseOf(url: string): Session['database'] {
  const address = databaseAddress(url)
  const slash = address.lastIndexOf('/')
  return { name: address.slice(slash + 1), place: address.slice(0, slash) }
}

function auditOf({ writes }: ServerConnections, live: Live, onFault: (error: unknown, what: string) => void): Audit {
  return {
    begin: ({ who, ...action }) => writes.recordAction({ ...action, by: who.name, via: who.via, answer: askedAnswer }),
    async end(id, note) {
      await writes.endAction(id, note).catch((error: unknown) => onFault(error, `audit row ${id}`))
      live.lookNow()
    },
  }
}
