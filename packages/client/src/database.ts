/**
 * What queue() can be given: a URL, a pool or client of `pg`, or a connection of the store. What the caller passed is
 * never closed here.
 *
 * A pool's options tell how to open the session that hears of ended runs; with a single client there is none, and who
 * waits for a result finds it by polling.
 */
import { ExplainedError } from '@q/schema'
import { borrow, connect, type Connection, type PgClient, type PgPool } from '@q/store'

export type Database = string | PgPool | PgClient | Connection

export function connectionOf(database: Database | undefined): Connection {
  if (database === undefined || database === '') throw noDatabase()
  if (typeof database === 'string') return connect(database, { purpose: 'pool' })
  if ('db' in database) return { ...database, close: async () => {} }
  return borrow(database)
}

function noDatabase(): ExplainedError {
  return new ExplainedError({
    code: 'DATABASE_URL_MISSING',
    what: 'queue() was given no database.',
    why: 'Its argument is undefined or empty: is DATABASE_URL set?',
    fix: 'Pass postgresql://user:password@host:5432/database.',
  })
}
