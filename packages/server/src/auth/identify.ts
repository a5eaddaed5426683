/**
 * Identifies the caller: a program by its bearer token, or a page by both halves of its session. Cookies are ignored if
 * there is a bearer token. A missing token and a wrong one get the same answer.
 */
import { crossSite } from '../http/checks.ts'
import { Refusal } from '../http/refusal.ts'
import type { Scope } from '../api/route.ts'
import { includesScope, type TokenScope } from './scopes.ts'
import type { Sessions } from './sessions.ts'
import type { Tokens } from './tokens.ts'

export interface Identity {
  /** Name of the token. */
  readonly name: string
  readonly scope: TokenScope
  readonly via: 'api' | 'page'
  /** When the session ends; null for a bearer token. */
  readonly expiresAt: Date | null
}

export interface Guards {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly cookieName: () => string
}

export function identify(guards: Guards, method: string, headers: Headers): Identity {
  const authorization = headers.get('Authorization')
  if (authorization !== null) {
    const token = guards.tokens.find(/^Bearer (\S{1,200})$/i.exec(authorization)?.[1] ?? '')
    if (token === undefined) throw unauthorized()
    return { name: token.name, scope: token.scope, via: 'api', expiresAt: null }
  }
  const cookie = cookieIn(headers, guards.cookieName())
  const proof = headers.get('Q-Proof')
  if (cookie === undefined) throw unauthorized()
  // A browser sends the cookie automatically, even with a form of another site; only our page sends the proof.
  if (proof === null) throw method === 'GET' || method === 'HEAD' ? unauthorized() : crossSite()
  const session = guards.sessions.read(cookie, proof)
  if (session === undefined) throw unauthorized()
  return { name: session.token.name, scope: session.token.scope, via: 'page', expiresAt: session.expiresAt }
}

/** Whether the credentials of an earlier request would still let its caller read. */
export function mayStillRead(guards: Guards, method: string, headers: Headers): boolean {
  try {
    return includesScope(identify(guards, method, headers).scope, 'read')
  } catch {
    return false
  }
}

export function cookieIn(headers: Headers, name: string): string | undefined {
  const pairs = (headers.get('Cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

export function requireScope(identity: Identity, needed: Scope): void {
  if (includesScope(identity.scope, needed)) return
  throw new Refusal(403, {
    code: 'SCOPE_TOO_SMALL',
    what: `The token "${identity.name}" may not do this.`,
    why: `It has the scope ${identity.scope}; this needs ${needed}.`,
    fix: `Use a token with the scope ${needed}: q token new --scope ${needed} --name …`,
  })
}

export function unauthorized(): Refusal {
  return new Refusal(
    401,
    {
      code: 'UNAUTHORIZED',
      what: 'A valid token is needed.',
      why: 'The request has no token or session that this server accepts.',
      fix: 'Open the link that `q open` prints, or send `Authorization: Bearer $(q token)`.',
    },
    { headers: { 'WWW-Authenticate': 'Bearer realm="q"' } },
  )
}
