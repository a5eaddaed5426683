/** Begins, shows and ends a session. */
import { cookieIn, unauthorized, type Guards, type Identity } from '../auth/identify.ts'
import { sessionMs } from '../auth/sessions.ts'
import { sessionRoutes, type Session } from '../api/session.ts'
import { jsonAnswer } from './answer.ts'
import type { Rate } from './rate.ts'
import { readBody } from './read-body.ts'
import { check } from './read-query.ts'
import { tooMany } from './refusal.ts'
import type { Sent } from './route-call.ts'

export interface SessionDeps {
  readonly guards: Guards
  /** Limits failed logins by address. */
  readonly failures: Rate
  readonly isHttps: boolean
  readonly describe: (who: Identity) => Sent<Session>
}

export async function beginSession(deps: SessionDeps, request: Request, address: string): Promise<Response> {
  const { guards, failures } = deps
  if (failures.isEmpty(address)) throw tooMany('This address has sent too many wrong tokens.', 60)
  const body = check(sessionRoutes['POST /api/session'].body, await readBody(request), '') as { token: string }
  const token = guards.tokens.find(body.token)
  if (token === undefined) {
    failures.take(address)
    throw unauthorized()
  }
  const { cookie, proof, expiresAt } = guards.sessions.begin(token)
  const who: Identity = { name: token.name, scope: token.scope, via: 'page', expiresAt }
  const headers = { 'Set-Cookie': cookieText(deps, cookie, sessionMs / 1_000) }
  return jsonAnswer(request, { ...deps.describe(who), proof }, { headers })
}

export function endSession(deps: SessionDeps, request: Request): Response {
  const cookie = cookieIn(request.headers, deps.guards.cookieName())
  if (cookie !== undefined) deps.guards.sessions.end(cookie)
  return jsonAnswer(request, { ended: cookie !== undefined }, { headers: { 'Set-Cookie': cookieText(deps, '', 0) } })
}

function cookieText({ guards, isHttps }: SessionDeps, value: string, maxAgeS: number): string {
  const secure = isHttps ? '; Secure' : ''
  return `${guards.cookieName()}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAgeS}${secure}`
}
