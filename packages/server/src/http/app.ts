/**
 * Checks every request in order; no other file uses Hono. The order is: limits, Host, method, token in the address,
 * same origin, the caller's identity, and then the table of routes. The paths that need no token are listed here
 * exactly.
 */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context } from 'hono'
import { apiRoutes, type ApiKey } from '../api/routes.ts'
import type { Route } from '../api/route.ts'
import { identify, mayStillRead, requireScope, type Identity } from '../auth/identify.ts'
import type { Live, StreamRequest } from '../live/hub.ts'
import { scrapeResponse, type Metrics } from '../metrics/metrics.ts'
import type { Assets } from '../page/assets.ts'
import { jsonAnswer, problemAnswer } from './answer.ts'
import {
  areaOf,
  requireNoTokenInUrl,
  requireOwnHost,
  requireReadable,
  requireSameOrigin,
  requireSmall,
  hostNotAllowed,
  type CheckedRequest,
} from './checks.ts'
import { problemOf } from './problem-of.ts'
import type { Probes } from './probes.ts'
import { readQuery } from './read-query.ts'
import { notFound, Refusal } from './refusal.ts'
import type { RouteCall, Handlers } from './route-call.ts'
import { serveRoute, type RouteDeps } from './serve-route.ts'
import { beginSession, endSession, type SessionDeps } from './session-routes.ts'

export interface AppDeps extends RouteDeps, SessionDeps {
  readonly databaseUrl: string
  readonly hosts: () => ReadonlyMap<string, string>
  /** Probes accept any Host: an orchestrator uses the address of the machine. */
  readonly isReachable: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly probes: Probes
  readonly handlers: Handlers
  readonly live: Live
  readonly metrics: Metrics
  readonly assets: Assets
  readonly openApi: () => unknown
  readonly onFault: (error: unknown, what: string) => void
}

interface Environment {
  Bindings: HttpBindings
  Variables: { who: Identity }
}
type C = Context<Environment>

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

export function createApp(deps: AppDeps): Hono<Environment> {
  const app = new Hono<Environment>()
  app.onError(async (error, c) => {
    const answered = await problemOf(error, deps.databaseUrl)
    if (answered.fault !== undefined) deps.onFault(answered.fault, `${c.req.method} ${c.req.path}`)
    return withHeaders(problemAnswer(answered), deps.headers)
  })
  app.use(async (c, next) => {
    const early = await passChecks(deps, c)
    if (early !== undefined) return withHeaders(early, deps.headers)
    await next()
    if (c.res !== undefined && c.res !== RESPONSE_ALREADY_SENT) c.res = withHeaders(c.res, deps.headers)
  })
  app.post('/api/session', (c) => beginSession(deps, c.req.raw, c.env.incoming.socket.remoteAddress ?? ''))
  const reading = (answer: (c: C) => Response | Promise<Response>) => (c: C) => {
    requireScope(c.var.who, 'read')
    return answer(c)
  }
  app.get(
    '/api/session',
    reading((c) => jsonAnswer(c.req.raw, deps.describe(c.var.who), {})),
  )
  app.delete(
    '/api/session',
    reading((c) => endSession(deps, c.req.raw)),
  )
  app.get(
    '/api/events',
    reading((c) => openStream(deps, c)),
  )
  app.get(
    '/metrics',
    reading(() => scrapeResponse(deps.metrics)),
  )
  app.get(
    '/api/openapi.json',
    reading((c) => jsonAnswer(c.req.raw, deps.openApi(), {})),
  )
  for (const [key, handler] of Object.entries(deps.handlers)) addRoute(app, deps, key as ApiKey, handler)
  app.all('*', (c) => otherwise(deps, c))
  return app
}

/** Returns a response that needs no route; undefined: continue. */
async function passChecks(deps: AppDeps, c: C): Promise<Response | undefined> {
  const { incoming } = c.env
  const request: CheckedRequest = {
    method: c.req.method,
    url: c.req.url,
    path: c.req.path,
    headers: c.req.raw.headers,
    rawHeaders: incoming.rawHeaders,
  }
  requireSmall(request)
  const area = areaOf(request.path)
  const isAnyHost = area === 'probe' && deps.isReachable
  const ownOrigin = isAnyHost ? '' : requireOwnHost(request.headers, deps.hosts())
  if (!methods.has(request.method)) throw notAllowed(request.method, routesAt(request.path))
  requireReadable(incoming.url ?? '')
  requireNoTokenInUrl(new URL(request.url))
  if (area === 'probe') return deps.probes.answer(request.path)
  requireSameOrigin(request, area, ownOrigin)
  if (area === 'api' && `${request.method} ${request.path}` !== 'POST /api/session')
    c.set('who', identify(deps.guards, request.method, request.headers))
  return undefined
}

function addRoute(app: Hono<Environment>, deps: AppDeps, key: ApiKey, handler: unknown): void {
  const [method = '', path = ''] = key.split(' ')
  app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => {
    const route: Route = apiRoutes[key]
    const asked = {
      key,
      route,
      request: c.req.raw,
      url: new URL(c.req.url),
      params: c.req.param() as Record<string, string>,
      who: c.var.who,
    }
    return serveRoute(deps, asked, handler as (call: RouteCall<never>) => Promise<unknown>)
  })
}

const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A proxy that compresses would hold frames back.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

function openStream(deps: AppDeps, c: C): Response {
  const request = readQuery(apiRoutes['GET /api/events'].query, new URL(c.req.url).searchParams) as StreamRequest
  const token = c.var.who.name
  deps.live.requireRoom(token)
  const { method, raw } = c.req
  if (method === 'HEAD') return new Response(null, { headers: streamHeaders })
  c.env.outgoing.writeHead(200, { ...deps.headers, ...streamHeaders })
  deps.live.open(c.env.outgoing, request, {
    token,
    hello: deps.describe(c.var.who),
    isAllowed: () => mayStillRead(deps.guards, method, raw.headers),
  })
  return RESPONSE_ALREADY_SENT
}

async function otherwise(deps: AppDeps, c: C): Promise<Response> {
  if (areaOf(c.req.path) === 'api') {
    const allowed = routesAt(c.req.path)
    throw allowed.length === 0 ? notFound('There is no such route.') : notAllowed(c.req.method, allowed)
  }
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') throw notAllowed(c.req.method)
  const asset = await deps.assets.answer(c.req.path, c.req.raw.headers)
  if (asset === undefined) throw notFound('There is no such page.')
  return asset
}

/** Answers a request whose address cannot be parsed. */
export async function unreadable(headers: Readonly<Record<string, string>>): Promise<Response> {
  return withHeaders(problemAnswer(await problemOf(hostNotAllowed(), '')), headers)
}

function routesAt(path: string): string[] {
  return Object.keys(apiRoutes).filter((key) => matches(key.split(' ')[1] ?? '', path))
}

function matches(pattern: string, path: string): boolean {
  const [parts, given] = [pattern.split('/'), path.split('/')]
  return parts.length === given.length && parts.every((part, place) => part.startsWith('{') || part === given[place])
}

function notAllowed(method: string, keys: readonly string[] = []): Refusal {
  const allow = keys.map((key) => key.split(' ')[0]).join(', ') || 'GET, HEAD'
  return new Refusal(
    405,
    {
      code: 'METHOD_NOT_ALLOWED',
      what: `${method.slice(0, 20)} is not possible here.`,
      why: `Possible: ${allow}.`,
      fix: 'See GET /api/openapi.json.',
    },
    { headers: { Allow: allow } },
  )
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
