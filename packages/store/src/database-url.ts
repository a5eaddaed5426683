/** The text of DATABASE_URL, checked; and what of it may be shown to people: never the password. */
import { ExplainedError } from '@q/schema'

export function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return url
  throw new ExplainedError({
    code: 'DATABASE_URL_INVALID',
    what: 'DATABASE_URL is not a PostgreSQL connection URL.',
    why:
      url === undefined
        ? 'It cannot be read as a URL (special characters in the password must be percent-encoded).'
        : `It begins with "${url.protocol}" and not with "postgresql:".`,
    fix: 'Write it like postgresql://user:password@host:5432/database.',
  })
}

/** `host:port/database`, for banners and errors. */
export function placeOf(text: string): string {
  const url = urlOf(text)
  const host = url.searchParams.get('host') ?? (url.hostname || 'localhost')
  const database = decodeURIComponent(url.pathname.slice(1)) || decodeURIComponent(url.username) || 'postgres'
  return `${host}:${url.port || '5432'}/${database}`
}
