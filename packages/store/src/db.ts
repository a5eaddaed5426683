/**
 * The only place where connections are made.
 *
 * Three classes, so that a flood of one kind of work cannot starve another: `control` (one connection: beats and
 * leases), `pool` (everything else) and the listener's session (wakes.ts). All have limits for connecting and for a
 * statement, and TCP keepalive: a half-open connection is otherwise noticed after many minutes.
 */
import type { DB } from '@q/schema'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Transaction,
} from 'kysely'
import { Client, Pool, type ClientConfig } from 'pg'
import { urlOf } from './database-url.ts'

/** Every verb takes either, so it can be part of the caller's own transaction. */
export type Db = Kysely<DB> | Transaction<DB>

export interface Connection {
  readonly db: Kysely<DB>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly purpose: 'control' | 'pool'
  readonly connectionsMax?: number
  /** Told when an idle connection breaks; the next statement gets a new one. */
  readonly onBroken?: (error: Error) => void
}

const limits = { connectMsMax: 5_000, statementMsMax: 30_000, idleMsMax: 30_000 }

export function connect(url: string, options: ConnectionOptions): Connection {
  const pool = new Pool({
    ...clientConfig(url, `q ${options.purpose}`),
    max: options.purpose === 'control' ? 1 : (options.connectionsMax ?? 4),
    idleTimeoutMillis: limits.idleMsMax,
    query_timeout: limits.statementMsMax,
  })
  // Without a handler a connection that the server closes would end this process.
  pool.on('error', (error) => options.onBroken?.(error))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  return { db, close: () => db.destroy() }
}

/** A session of its own, for LISTEN. */
export function session(url: string, purpose: string): Client {
  return new Client(clientConfig(url, `q ${purpose}`))
}

/** Builds statements and can send none: for pictures of them. */
export function withoutServer(): Kysely<DB> {
  return new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

function clientConfig(url: string, name: string): ClientConfig {
  return {
    connectionString: urlOf(url).href,
    application_name: name,
    connectionTimeoutMillis: limits.connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
  }
}
