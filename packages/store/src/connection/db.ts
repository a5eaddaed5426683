/**
 * Opens every connection.
 *
 * Connections have a purpose, so that a flood of one kind of work cannot starve another: `control` (one connection:
 * heartbeats and leases), `exchange` (one: finish, start and claim), `pool` (everything else), `page` (the reads of the
 * HTTP server: the database rejects their writes), `migrate` (one, without a statement timeout: DDL may wait long for a
 * lock), and the sessions of listeners. All have a connect timeout and TCP keepalive, without which a half-open connection
 * goes unnoticed for many minutes. A connection that broke, or on which a statement took too long, is destroyed: its
 * answer may still come, or never. The server also ends such a statement, and a transaction that a process does not
 * continue (session-settings.ts).
 *
 * `control` and `exchange` keep the plans of prepared statements; a `pool` with its own sessions keeps those that are
 * safe on any session. A kept plan must suit a table of any size. With the statistics of an empty table PostgreSQL
 * would keep a sequential scan, so the settings turn such plans off.
 */
import type { DB } from '@q/schema'
import {
  Kysely,
  PostgresDialect,
  sql,
  type CompiledQuery,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely'
import { Client, Pool, type ClientConfig, type PoolClient } from 'pg'
import { requireDatabaseUrl } from './database-url.ts'
import { pgTypeParsers } from './pg-type-parsers.ts'
import { execute, pipeline, type Answer } from './pipeline.ts'
import { nameKeptAnywhere, preparedName } from './prepared.ts'
import {
  answerMsMax,
  inLimitedTransactions,
  prepareSession,
  exchangeLockMsMax,
  type PreparedSession,
} from './session-settings.ts'
import { isAboutConnection } from './sql-state.ts'
import { compileOnlyDb } from './compile-only-db.ts'

/** Every verb takes either, so that it can be part of the caller's transaction. */
export type Db = Kysely<DB> | Transaction<DB>

/** How to open further sessions: a URL, or the options of the caller's pool. */
export type Origin = string | ClientConfig

export interface Connection {
  readonly db: Kysely<DB>
  /** Undefined: no further session can be opened. */
  readonly origin: Origin | undefined
  /** Runs on a connection that no transaction of the caller can block. */
  onOwnConnection<T>(work: (db: Kysely<DB>) => Promise<T>): Promise<T>
  /** Whether a transaction is open on the caller's client. Writes may then be rolled back. */
  isInTransaction?(): boolean
  /**
   * Sends the queries in one round trip and one transaction (pipeline.ts). `after` is sent with them and executed in a
   * transaction of its own, once theirs has ended.
   */
  pipeline(queries: readonly CompiledQuery[], after?: CompiledQuery): Promise<Pipelined>
  close(): Promise<void>
}

export interface Pipelined {
  /** The rows of each query. */
  readonly rows: readonly unknown[][]
  /** The rows of `after`, which come later; undefined without one. */
  readonly after: Promise<unknown[]> | undefined
}

export interface ConnectionOptions {
  readonly purpose: 'control' | 'exchange' | 'pool' | 'page' | 'migrate'
  readonly connectionsMax?: number
  readonly statementMsMax?: number
  /**
   * False behind a pooler that lends a session per transaction: no prepared statements, no session settings.
   * Undefined on a `pool` of programs that are not replicas: each connection finds out whether it has its own session
   * (session-settings.ts).
   */
  readonly prepare?: boolean
  /** Whether the caller sends the wakes for runs inserted on this connection, instead of the trigger of the table. */
  readonly quiet?: boolean
  /** Called when an idle connection breaks; the next statement gets a new one. */
  readonly onBroken?: (error: Error) => void
}

const connectMsMax = 5_000
const idleMsMax = 30_000

export function connect(url: string, options: ConnectionOptions): Connection {
  const { purpose, prepare = true } = options
  const pool = new Pool({
    ...clientConfig(url, `q ${purpose}`),
    max: purpose === 'pool' || purpose === 'page' ? (options.connectionsMax ?? 4) : 1,
    idleTimeoutMillis: idleMsMax,
    ...(purpose === 'migrate' ? {} : { query_timeout: answerMsMax(options) }),
  })
  const keepsPlans = prepare && (purpose === 'control' || purpose === 'exchange')
  // One object for each session, not for each checkout: Kysely keeps them as keys of weak maps, which cost the garbage collector.
  const sessions = new WeakMap<PoolClient, Promise<PooledClient>>()
  // Without handlers a connection that the server closes, idle or in use, would end this process.
  pool.on('error', (error) => options.onBroken?.(error))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // Sent before anything else on this connection. If it fails, so does the next statement.
    const ready = prepareSession(client, options).catch((): PreparedSession => {
      destroySocket(client)
      return {}
    })
    sessions.set(
      client,
      ready.then((prepared) => wrapPooledClient(client, { ...prepared, nameOf: nameOf(prepared) })),
    )
  })
  function nameOf({ limitTransaction }: PreparedSession): NameOf {
    if (!prepare || limitTransaction !== undefined) return () => undefined
    return keepsPlans ? preparedName : nameKeptAnywhere
  }
  async function checkOut(): Promise<PooledClient> {
    const client = await pool.connect()
    return sessions.get(client) ?? wrapPooledClient(client, { nameOf: nameOf({}) })
  }
  let ended: Promise<void> | undefined
  const end = () => (ended ??= pool.end())
  const kyselyPool: PostgresPool = { options: pool.options, connect: checkOut, end }
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: kyselyPool }) })
  return {
    db,
    origin: url,
    onOwnConnection: (work) => work(db),
    async pipeline(queries, after) {
      // If session settings are not allowed, each transaction sets them.
      const limits = !prepare && purpose === 'exchange' && queries.length > 0 ? [lockLimit] : []
      const transactions = [[...limits, ...queries], after === undefined ? [] : [after]]
      if (transactions.flat().length === 0) return { rows: [], after: undefined }
      const [first, second] = await sendTransactions(await checkOut(), transactions)
      const rows = (await first) ?? []
      return { rows: rows.slice(limits.length), after: after && second?.then(([found = []]) => found) }
    },
    async close() {
      await db.destroy()
      // Kysely does not end a pool that it never used, and the pipeline uses the pool without Kysely.
      await end()
    },
  }
}

const lockLimit: CompiledQuery = sql`SELECT set_config('lock_timeout', ${String(exchangeLockMsMax)}, true)`.compile(
  compileOnlyDb(),
)

/** A session of its own, for LISTEN. */
export function createSessionClient(origin: Origin, purpose: string): Client {
  const name = `q ${purpose}`
  return new Client(typeof origin === 'string' ? clientConfig(origin, name) : { ...origin, ...clientDefaults(name) })
}

/** Closes the session without waiting for an answer that may never come. */
export function closeSessionClient(client: Client): void {
  client.removeAllListeners()
  client.on('error', () => {})
  void client.end().catch(() => {})
  destroySocket(client)
}

type NameOf = (text: string) => string | undefined

type Transactions = readonly (readonly CompiledQuery[])[]

interface PooledClient extends PostgresPoolClient {
  /** Sends transactions in one round trip. The rows of their queries come one transaction after the other. */
  pipeline(transactions: Transactions): Promise<Promise<unknown[][]>[]>
}

/** Releases the client when every transaction has ended. */
async function sendTransactions(client: PooledClient, transactions: Transactions): Promise<Promise<unknown[][]>[]> {
  const sent = await client.pipeline(transactions).catch((error: unknown) => {
    client.release()
    throw error
  })
  void Promise.allSettled(sent).then(() => client.release())
  return sent
}

interface PooledClientOptions extends PreparedSession {
  readonly nameOf: NameOf
}

/** Only what Kysely's drivers and the pipeline use; nothing here reads by cursor. */
function wrapPooledClient(client: PoolClient, { nameOf, limitTransaction }: PooledClientOptions): PooledClient {
  let unusable: Error | undefined
  async function notingBreaks<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Error && isAboutConnection(error)) unusable = error
      throw error
    }
  }
  async function send(text: string, values: unknown[]): Promise<Answer> {
    const name = nameOf(text)
    if (name === undefined) return notingBreaks(client.query(text, values))
    return notingBreaks(execute(client, { query: { sql: text, parameters: values }, name }))
  }
  const sendLimited = limitTransaction === undefined ? send : inLimitedTransactions(send, limitTransaction)
  return {
    query: sendLimited as unknown as PostgresPoolClient['query'],
    async pipeline(transactions) {
      const named = transactions.map((queries) => queries.map((query) => ({ query, name: nameOf(query.sql) })))
      const sent = await notingBreaks(pipeline(client, named))
      return sent.map(async (answers) => (await notingBreaks(answers)).map(({ rows }) => rows))
    },
    release(destroy) {
      if (unusable !== undefined) destroySocket(client)
      client.release(unusable ?? destroy)
    },
  }
}

/** pg has no public method to drop a connection at once. */
function destroySocket(client: Client | PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

function clientConfig(url: string, name: string): ClientConfig {
  return { connectionString: requireDatabaseUrl(url).href, ...clientDefaults(name) }
}

function clientDefaults(name: string): ClientConfig {
  return {
    application_name: name,
    types: pgTypeParsers,
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
  }
}
