/** The server of a connection, for error texts; never contains the password. */
import { Client } from 'pg'
import { partsOf, placeOf } from './database-url.ts'
import type { Origin } from './db.ts'

export interface Server {
  /** ` at host:port/database`, or empty where only the caller's client knows. */
  readonly at: string
  readonly user: string
  readonly host: string
  readonly port: number
}

export function serverOf(origin: Origin | undefined): Server {
  if (origin === undefined) return { at: '', user: 'the current user', host: '', port: 0 }
  if (typeof origin === 'string') {
    const { host, port, user } = partsOf(origin)
    return { at: ` at ${placeOf(origin)}`, user: user || 'the current user', host, port }
  }
  // The options of a pool may leave out what `pg` finds elsewhere; a client that never connects has all of it.
  const { host, port, user = '', database = '' } = new Client(origin)
  return { at: ` at ${host}:${port}/${database}`, user: user || 'the current user', host, port }
}
