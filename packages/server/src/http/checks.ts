/**
 * The checks of every request before its body is read: limits, Host, no token in the address, same origin. A list names
 * the exempt paths; every other path is checked.
 */
import { Refusal, wrongParameters } from './refusal.ts'

/** The area of a request, by its exact path. */
export type Area = 'probe' | 'api' | 'page'

const probePaths = ['/healthz', '/readyz', '/startupz'] as const

export function areaOf(path: string): Area {
  if ((probePaths as readonly string[]).includes(path)) return 'probe'
  return path === '/api' || path.startsWith('/api/') || path === '/metrics' ? 'api' : 'page'
}

export interface CheckedRequest {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly headers: Headers
  /** The headers as received, names and values. */
  readonly rawHeaders: readonly string[]
}

const urlMax = 8_192
const headersMax = 100

export function requireSmall({ url, rawHeaders }: CheckedRequest): void {
  if (url.length > urlMax)
    throw new Refusal(414, {
      code: 'URL_TOO_LONG',
      what: 'The address is too long.',
      why: `It has ${url.length} characters; ${urlMax} are allowed.`,
      fix: 'Use fewer or shorter conditions.',
    })
  if (rawHeaders.length > headersMax * 2)
    throw new Refusal(431, {
      code: 'TOO_MANY_HEADERS',
      what: 'The request has too many headers.',
      why: `At most ${headersMax} are allowed.`,
      fix: 'Send fewer headers or cookies.',
    })
}

/** Refuses what URL parsers would replace or keep as it is: text that is not UTF-8, and the character that no database stores. */
export function requireReadable(url: string): void {
  const problem = problemOfUrl(url)
  if (problem !== undefined) throw wrongParameters([{ at: 'address', problem }])
}

function problemOfUrl(url: string): string | undefined {
  if (/%00/.test(url)) return 'must not contain %00'
  try {
    decodeURIComponent(url)
    return undefined
  } catch {
    return 'has a % that does not begin an encoded character of UTF-8'
  }
}

/** Returns the origin for the Host. */
export function requireOwnHost(headers: Headers, hosts: ReadonlyMap<string, string>): string {
  const host = (headers.get('Host') ?? '').toLowerCase()
  const origin = hosts.get(host)
  if (origin !== undefined) return origin
  throw hostNotAllowed()
}

export function hostNotAllowed(): Refusal {
  return new Refusal(421, {
    code: 'HOST_NOT_ALLOWED',
    what: 'This server does not answer to that name.',
    why: 'The Host header is not one of its own addresses: a proxy changed it, or another site points at this machine.',
    fix: 'Use the printed link; behind a proxy set Q_HTTP_ORIGIN to the address that people use.',
  })
}

export function requireNoTokenInUrl(url: URL): void {
  if (!url.searchParams.has('token') && !url.searchParams.has('access_token')) return
  throw new Refusal(400, {
    code: 'TOKEN_IN_URL',
    what: 'A token must not be part of the address.',
    why: 'Addresses end up in logs, histories and Referer headers; consider this token known to others.',
    fix: 'Send it as `Authorization: Bearer …`, or open the printed link, where it follows the #. Replace it: q token --replace.',
  })
}

/** Refuses every request of a page of another origin, whatever its credentials. */
export function requireSameOrigin(request: CheckedRequest, area: Area, ownOrigin: string): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && area !== 'api') return
  const origin = request.headers.get('Origin')
  const site = request.headers.get('Sec-Fetch-Site')
  const isNavigation = site === 'none' && request.headers.get('Sec-Fetch-Mode') === 'navigate'
  if ((origin === null || origin === ownOrigin) && (site === null || site === 'same-origin' || isNavigation)) return
  throw crossSite()
}

export function crossSite(): Refusal {
  return new Refusal(403, {
    code: 'CROSS_SITE',
    what: 'The request came from another site.',
    why: 'Its Origin or Sec-Fetch-Site is not that of this server, or it has a cookie without the proof of its page.',
    fix: 'Use the page of this server; programs send `Authorization: Bearer …` and no cookie.',
  })
}
