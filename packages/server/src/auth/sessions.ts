/**
 * Sessions of browsers. A request must present both halves: a cookie that scripts cannot read, and a proof that the
 * page sends as a header. A server on another port of this host receives the cookie, because cookies ignore ports, but
 * never the proof.
 *
 * A session is signed, not stored: every server with the token accepts it, even after a restart. It ends after 12 hours
 * or when its token is replaced; a logout ends it on the server that receives it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { NamedToken } from './named-tokens.ts'
import type { Tokens } from './tokens.ts'

export interface NewSession {
  readonly cookie: string
  readonly proof: string
  readonly expiresAt: Date
}

export interface SessionRead {
  readonly token: NamedToken
  readonly expiresAt: Date
}

export interface Sessions {
  begin(token: NamedToken): NewSession
  /** Undefined: the session expired or ended, its token was replaced, or it was not signed here. */
  read(cookie: string, proof: string): SessionRead | undefined
  end(cookie: string): void
}

export const sessionMs = 12 * 3_600_000
const endedMax = 10_000

export function createSessions(tokens: Tokens, now: () => number = Date.now): Sessions {
  const ended = new Set<string>()
  return {
    begin(token) {
      const found = tokens.sessionKey(token.name)
      if (found === undefined) throw new Error('A session needs a valid token.')
      const expiresAt = now() + sessionMs
      const facts = encode(JSON.stringify([token.name, expiresAt, randomBytes(16).toString('base64url')]))
      const cookie = `${facts}.${sign(found.key, 'cookie', facts)}`
      return { cookie, proof: sign(found.key, 'proof', cookie), expiresAt: new Date(expiresAt) }
    },
    read(cookie, proof) {
      const [facts = '', signature = ''] = cookie.split('.')
      const [name, expiresAt] = factsIn(facts)
      const found = name === undefined ? undefined : tokens.sessionKey(name)
      if (found === undefined || expiresAt === undefined) return undefined
      if (!areEqual(signature, sign(found.key, 'cookie', facts))) return undefined
      if (!areEqual(proof, sign(found.key, 'proof', cookie))) return undefined
      if (expiresAt < now() || ended.has(cookie)) return undefined
      return { token: found.token, expiresAt: new Date(expiresAt) }
    },
    end(cookie) {
      if (ended.size >= endedMax) ended.delete(ended.values().next().value ?? '')
      ended.add(cookie)
    },
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function sign(key: Buffer, purpose: string, text: string): string {
  return createHmac('sha256', key).update(`${purpose} ${text}`).digest('base64url')
}

function areEqual(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function factsIn(text: string): [name?: string, expiresAt?: number] {
  try {
    const [name, expiresAt] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    return typeof name === 'string' && typeof expiresAt === 'number' ? [name, expiresAt] : []
  } catch {
    return []
  }
}
