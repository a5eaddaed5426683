/** The server of a connection, for error texts; never contains the password. */
import { Client } from 'pg'
import { parseDatabaseUrl, databaseAddress } from './database-url.ts'
import type { Origin } from './db.ts'

export interface ServerAddress {
  /** ` at host:port/database`, or empty where only the caller's client knows. */
  readonly at: string
  readonly user: string
  readonly host: string
  readonly port: number
}

export function serverOf(origin: Origin | undefined): ServerAddress {
  if (origin === undefined) return { at: '', user: 'the current user', host: '', port: 0 }
  if (typeof origin === 'string') {
    const { host, port, user } = parseDatabaseUrl(origin)
    return { at: ` at ${databaseAddress(origin)}`, user: user || 'the current user', host, port }
  }
  // The options of a pool may omit what `pg` finds elsewhere; a client that never connects has all of it.
  const { host, port, user = '', database = '' } = new Client(origin)
  return { at: ` at ${host}:${port}/${database}`, user: user || 'the current user', host, port }
}
