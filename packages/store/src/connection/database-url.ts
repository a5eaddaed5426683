/** Checks DATABASE_URL and returns the parts that may be shown: never the password. */
import { ExplainedError } from '@q/schema'

export function requireDatabaseUrl(text: string): URL {
  // `user@/database?host=…` is legal for PostgreSQL, though not for URLs.
  const readable = text.replace(/^(\w+:\/\/[^/?#]*@)\//, '$1localhost/')
  const url = URL.canParse(readable) ? new URL(readable) : undefined
  const postgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:'
  if (url !== undefined && postgres && isUnambiguous(url)) return url
  throw new ExplainedError({
    code: 'DATABASE_URL_INVALID',
    what: 'DATABASE_URL is not a PostgreSQL connection URL.',
    why: urlProblem(text, postgres ? undefined : url),
    fix: 'Write it like postgresql://user:password@host:5432/database.',
  })
}

function urlProblem(text: string, otherUrl: URL | undefined): string {
  if (text.trim() === '') return 'It is set, but empty: a variable that should fill it may be missing.'
  return otherUrl === undefined
    ? 'It cannot be read as a URL (special characters in user, password and database must be percent-encoded).'
    : `It begins with "${otherUrl.protocol}" and not with "postgresql:".`
}

export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** Parameters of the URL override its parts, as in PostgreSQL's own tools. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = requireDatabaseUrl(text)
  const user = decoded(url.username) ?? ''
  return {
    host: url.searchParams.get('host') || url.hostname.replaceAll(/^\[|\]$/g, '') || 'localhost',
    port: Number(url.searchParams.get('port') || url.port || 5432),
    user,
    database: decoded(url.pathname.slice(1)) || user || 'postgres',
  }
}

/** `host:port/database`, for banners and errors. */
export function databaseAddress(text: string): string {
  const { host, port, database } = parseDatabaseUrl(text)
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}

/** A / or # that is not encoded would make the rest of a password part of the address, which is shown. */
function isUnambiguous({ username, password, pathname, hash }: URL): boolean {
  return decoded(username + password + pathname) !== undefined && !pathname.includes('@') && hash === ''
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
