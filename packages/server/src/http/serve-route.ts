/**
 * Serves a request after its caller is identified: scope, limits, parameters, handler, audit. Every route that changes
 * something writes a row to the audit log before it does so, and then the answer, whether it succeeded or was refused.
 */
import { isExplained } from '@q/schema'
import { z } from 'zod'
import type { ApiKey } from '../api/routes.ts'
import type { Route } from '../api/route.ts'
import { requireScope, type Identity } from '../auth/identify.ts'
import { jsonAnswer, textAnswer } from './answer.ts'
import { cursorsOf } from './cursors.ts'
import type { Rate } from './rate.ts'
import { readBody } from './read-body.ts'
import { check, readQuery } from './read-query.ts'
import { notFound, Refusal, tooMany } from './refusal.ts'
import { Reply, type AuditNote, type RouteCall } from './route-call.ts'

export const changesPerSecond = { action: 20, work: 500 } as const

export interface Audit {
  /** Called before the action: without a row nothing is done. Returns the id of the row. */
  begin(action: { readonly who: Identity; readonly what: string; readonly subject: string }): Promise<string>
  /** Never throws: the action has ended. If the row cannot be written, it still says that the action was asked for. */
  end(id: string, note: AuditNote): Promise<void>
}

export interface RouteDeps {
  readonly readOnly: boolean
  /** The most actions and worker requests of one token per second. */
  readonly rates: { readonly action: Rate; readonly work: Rate }
  readonly audit: Audit
  /** For tests: an answer that its schema does not describe is an error. */
  readonly checkAnswers: boolean
}

export interface Asked {
  readonly key: ApiKey
  readonly route: Route
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly who: Identity
}

type AnyHandler = (call: RouteCall<never>) => Promise<unknown>

export async function serveRoute(deps: RouteDeps, asked: Asked, handler: AnyHandler): Promise<Response> {
  const { route, request, who } = asked
  requireScope(who, route.scope)
  if (route.action !== undefined) requireMayChange(deps, who, 'action')
  else if (route.scope === 'work' && request.method !== 'GET') requireMayChange(deps, who, 'work')
  const call = await read(asked)
  const answered = await (route.action === undefined
    ? handler(call)
    : audited(deps.audit, route.action, asked, call, handler))
  const reply = answered instanceof Reply ? answered : new Reply(answered, {})
  if (typeof route.answer === 'string') return textAnswer(String(reply.data))
  if (deps.checkAnswers) requireDescribed(asked.key, route.answer, reply.data)
  return jsonAnswer(request, reply.data, { status: reply.status ?? route.status ?? 200, headers: reply.headers })
}

function requireMayChange({ readOnly, rates }: RouteDeps, who: Identity, kind: keyof RouteDeps['rates']): void {
  if (readOnly)
    throw new Refusal(403, {
      code: 'SERVER_READ_ONLY',
      what: 'This server accepts no actions.',
      why: 'It was started with Q_HTTP_READ_ONLY=1.',
      fix: 'Use another server, or the CLI.',
    })
  const afterS = rates[kind].take(who.name)
  const perSecond = changesPerSecond[kind]
  if (afterS > 0) throw tooMany(`The token "${who.name}" may change ${perSecond} things a second.`, afterS)
}

async function read({ key, route, request, url, params, who }: Asked): Promise<RouteCall<never>> {
  const known = z.object({
    ...Object.fromEntries(Object.keys(params).map((one) => [one, anyName])),
    ...route.params?.shape,
  })
  const parsed = known.safeParse(params)
  if (!parsed.success) throw notFound('Nothing has such an id or name.')
  const query = readQuery(route.query, url.searchParams) as object
  const body = route.body === undefined ? {} : check(route.body, await readBody(request), '')
  const note: AuditNote = { subject: Object.values(params).join(' '), detail: body, answer: 'done' }
  return {
    params: parsed.data,
    query,
    body,
    who,
    headers: request.headers,
    note,
    cursors: cursorsOf(key, query),
  }
}

const anyName = z.string().min(1).max(200)

async function audited(
  audit: Audit,
  what: string,
  { who }: Asked,
  call: RouteCall<never>,
  handler: AnyHandler,
): Promise<unknown> {
  const { note } = call
  const id = await audit.begin({ who, what, subject: note.subject })
  try {
    const answered = await handler(call)
    await audit.end(id, note)
    return answered
  } catch (error) {
    await audit.end(id, { ...note, answer: isExplained(error) ? error.code : 'INTERNAL_ERROR' })
    throw error
  }
}

function requireDescribed(key: string, schema: z.ZodType, data: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(data))
  const [undescribed] = additions(sent, schema.parse(sent))
  if (undescribed !== undefined) throw new Error(`${key} answers ${undescribed}, which its schema lacks.`)
}

/** The paths of members that the schema does not describe. */
function additions(sent: unknown, described: unknown, at = ''): string[] {
  if (typeof sent !== 'object' || sent === null) return []
  if (typeof described !== 'object' || described === null) return [at]
  return Object.entries(sent).flatMap(([name, member]: [string, unknown]) =>
    Object.hasOwn(described, name)
      ? additions(member, Reflect.get(described, name), `${at}.${name}`)
      : [`${at}.${name}`],
  )
}
