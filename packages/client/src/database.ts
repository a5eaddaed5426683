/**
 * Turns the argument of `queue()` into a connection: a URL, a `pg` pool or client, or a connection of the store. It never
 * closes a pool, client or connection that the caller passed.
 *
 * A pool's options say how to open the LISTEN session for ended runs. A single client has no such options, so waits on it
 * poll.
 */
import { ExplainedError } from '@q/schema'
import { wrapCallerConnection, connect, type Connection, type PgClient, type PgPool } from '@q/store'

export type Database = string | PgPool | PgClient | Connection

export function connectionOf(database: Database | undefined): Connection {
  if (database === undefined || database === '') throw noDatabase()
  if (typeof database === 'string') return connect(database, { purpose: 'pool' })
  if ('db' in database) return { ...database, close: async () => {} }
  return wrapCallerConnection(database)
}

function noDatabase(): ExplainedError {
  return new ExplainedError({
    code: 'DATABASE_URL_MISSING',
    what: 'queue() needs a database.',
    why: 'Its argument is undefined or empty. DATABASE_URL may not be set.',
    fix: 'Pass postgresql://user:password@host:5432/database.',
  })
}
