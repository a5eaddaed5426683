/** The text of DATABASE_URL, checked; and what of it may be shown to people: never the password. */
import { ExplainedError } from '@q/schema'

export function urlOf(text: string): URL {
  // `user@/database?host=…` is legal for PostgreSQL, though not for URLs.
  const readable = text.replace(/^(\w+:\/\/[^/?#]*@)\//, '$1localhost/')
  const url = URL.canParse(readable) ? new URL(readable) : undefined
  const postgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:'
  if (url !== undefined && postgres && isWhole(url)) return url
  throw new ExplainedError({
    code: 'DATABASE_URL_INVALID',
    what: 'DATABASE_URL is not a PostgreSQL connection URL.',
    why: whyNot(text, postgres ? undefined : url),
    fix: 'Write it like postgresql://user:password@host:5432/database.',
  })
}

function whyNot(text: string, otherUrl: URL | undefined): string {
  if (text.trim() === '') return 'It is set, but empty: a variable that should fill it may be missing.'
  return otherUrl === undefined
    ? 'It cannot be read as a URL (special characters in user, password and database must be percent-encoded).'
    : `It begins with "${otherUrl.protocol}" and not with "postgresql:".`
}

export interface Place {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** Where it leads; parameters of the URL come before its parts, as for PostgreSQL's own tools. */
export function partsOf(text: string): Place {
  const url = urlOf(text)
  const user = decoded(url.username) ?? ''
  return {
    host: url.searchParams.get('host') || url.hostname.replaceAll(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.searchParams.get('port') || url.port || 5432),
    user,
    database: decoded(url.pathname.slice(1)) || user || 'postgres',
  }
}

/** `host:port/database`, for banners and errors. */
export function placeOf(text: string): string {
  const { host, port, database } = partsOf(text)
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}

/** A / or # that was not encoded would make the rest of a password a part of the place, which is shown. */
function isWhole({ username, password, pathname, hash }: URL): boolean {
  return decoded(username + password + pathname) !== undefined && !pathname.includes('@') && hash === ''
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
