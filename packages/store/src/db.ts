/**
 * The only place where connections are made.
 *
 * Classes, so that a flood of one kind of work cannot starve another: `control` (one connection: beats and leases),
 * `pool` (everything else), `migrate` (one, without a limit for a statement: DDL may wait long for a lock), and the
 * sessions of listeners. All have a limit for connecting, and TCP keepalive: a half-open connection is otherwise
 * noticed after many minutes. A connection that broke, or on which a statement took too long, is destroyed and
 * not used again: its answer may still come, or never.
 */
import type { DB } from '@q/schema'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely'
import { Client, Pool, type ClientConfig, type PoolClient, type QueryResult } from 'pg'
import { urlOf } from './database-url.ts'

/** Every verb takes either, so it can be part of the caller's own transaction. */
export type Db = Kysely<DB> | Transaction<DB>

export interface Connection {
  readonly db: Kysely<DB>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly purpose: 'control' | 'pool' | 'migrate'
  readonly connectionsMax?: number
  readonly statementMsMax?: number
  /** Told when an idle connection breaks; the next statement gets a new one. */
  readonly onBroken?: (error: Error) => void
}

const limits = { connectMsMax: 5_000, statementMsMax: 30_000, idleMsMax: 30_000 }

export function connect(url: string, options: ConnectionOptions): Connection {
  const pool = new Pool({
    ...clientConfig(url, `q ${options.purpose}`),
    max: options.purpose === 'pool' ? (options.connectionsMax ?? 4) : 1,
    idleTimeoutMillis: limits.idleMsMax,
    ...(options.purpose === 'migrate' ? {} : { query_timeout: options.statementMsMax ?? limits.statementMsMax }),
  })
  // Without handlers a connection that the server closes, idle or in use, would end this process.
  pool.on('error', (error) => options.onBroken?.(error))
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: withoutBrokenOnes(pool) }) })
  return { db, close: () => db.destroy() }
}

/** A session of its own, for LISTEN. */
export function session(url: string, purpose: string): Client {
  return new Client(clientConfig(url, `q ${purpose}`))
}

/** Says goodbye, and does not wait for an answer that may never come. */
export function endSession(client: Client): void {
  client.removeAllListeners()
  client.on('error', () => {})
  void client.end().catch(() => {})
  destroySocket(client)
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

function withoutBrokenOnes(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      return lent(await pool.connect())
    },
    end: () => pool.end(),
  }
}

/** Only what Kysely's drivers use; nothing here streams by cursor. */
function lent(client: PoolClient): PostgresPoolClient {
  let unusable: Error | undefined
  async function query(text: string, parameters: unknown[]): Promise<QueryResult> {
    try {
      return await client.query(text, parameters)
    } catch (error) {
      if (error instanceof Error && !isAnswer(error)) unusable = error
      throw error
    }
  }
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release(destroy) {
      if (unusable !== undefined) destroySocket(client)
      client.release(unusable ?? destroy)
    },
  }
}

/** The server refused the statement and goes on serving us; any other error says that the connection is of no use. */
function isAnswer(error: Error): boolean {
  const code: unknown = Reflect.get(error, 'code')
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P') && !code.startsWith('08')
}

/** pg has no public way to give a connection up at once. */
function destroySocket(client: Client | PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
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
