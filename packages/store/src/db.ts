/**
 * The only place where connections are made.
 *
 * Classes, so that a flood of one kind of work cannot starve another: `control` (one connection: beats and leases),
 * `turn` (one: finish, start and claim), `pool` (everything else), `migrate` (one, without a limit for a statement: DDL
 * may wait long for a lock), and the sessions of listeners. All have a limit for connecting, and TCP keepalive: a
 * half-open connection is otherwise noticed after many minutes. A connection that broke, or on which a statement took
 * too long, is destroyed and not used again: its answer may still come, or never. The server ends such a statement too,
 * and a transaction that a process does not continue (session-settings.ts).
 *
 * `control` and `turn` keep the plans of prepared statements; a `pool` with sessions of its own those that are right on
 * any session. A plan that is kept must be right for a table of any size,
 * and the statistics of an empty one would make it a sequential scan for ever: so what could go wrong is switched off.
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
import { Client, Pool, type ClientConfig, type PoolClient, type QueryResult } from 'pg'
import { urlOf } from './database-url.ts'
import { ownTypes } from './own-types.ts'
import { pipeline } from './pipeline.ts'
import { nameKeptAnywhere, preparedName } from './prepared.ts'
import {
  answerMsMax,
  inLimitedTransactions,
  prepareSession,
  turnLockMs,
  type PreparedSession,
} from './session-settings.ts'
import { isAboutConnection } from './sql-state.ts'
import { withoutServer } from './without-server.ts'

/** Every verb takes either, so it can be part of the caller's own transaction. */
export type Db = Kysely<DB> | Transaction<DB>

/** Where sessions of one's own can be opened: a URL, or what somebody's own pool connects with. */
export type Origin = string | ClientConfig

export interface Connection {
  readonly db: Kysely<DB>
  /** Undefined: this connection is all there is. */
  readonly origin: Origin | undefined
  /** On a connection that no transaction of the caller's can hold back. */
  apart<T>(work: (db: Kysely<DB>) => Promise<T>): Promise<T>
  /** Of a caller's own client: is a transaction open on it? What is written then may be undone. */
  isInTransaction?(): boolean
  /** One round trip, one transaction, the rows of each: pipeline.ts. */
  pipeline(queries: readonly CompiledQuery[]): Promise<unknown[][]>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly purpose: 'control' | 'turn' | 'pool' | 'migrate'
  readonly connectionsMax?: number
  readonly statementMsMax?: number
  /**
   * False behind a pooler that lends a session per transaction: no prepared statements, no settings of the session.
   * Undefined on a `pool`, by programs that are not replicas: each connection finds out whether it has a session of its
   * own (session-settings.ts).
   */
  readonly prepare?: boolean
  /** The trigger of the table sends no wakes for runs that are inserted on this connection: the caller sends them. */
  readonly quiet?: boolean
  /** Told when an idle connection breaks; the next statement gets a new one. */
  readonly onBroken?: (error: Error) => void
}

const connectMsMax = 5_000
const idleMsMax = 30_000

export function connect(url: string, options: ConnectionOptions): Connection {
  const { purpose, prepare = true } = options
  const pool = new Pool({
    ...clientConfig(url, `q ${purpose}`),
    max: purpose === 'pool' ? (options.connectionsMax ?? 4) : 1,
    idleTimeoutMillis: idleMsMax,
    ...(purpose === 'migrate' ? {} : { query_timeout: answerMsMax(options) }),
  })
  const keepsPlans = prepare && (purpose === 'control' || purpose === 'turn')
  const sessions = new WeakMap<PoolClient, Promise<PreparedSession>>()
  // Without handlers a connection that the server closes, idle or in use, would end this process.
  pool.on('error', (error) => options.onBroken?.(error))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // Sent before anything else on this connection. If it fails, so does what comes next.
    const ready = prepareSession(client, options).catch(() => {
      destroySocket(client)
      return {}
    })
    sessions.set(client, ready)
  })
  function nameOf({ limitTransaction }: PreparedSession): NameOf {
    if (!prepare || limitTransaction !== undefined) return () => undefined
    return keepsPlans ? preparedName : nameKeptAnywhere
  }
  async function lend(): Promise<LentClient> {
    const client = await pool.connect()
    const prepared = (await sessions.get(client)) ?? {}
    return lent(client, { ...prepared, nameOf: nameOf(prepared) })
  }
  let ended: Promise<void> | undefined
  const end = () => (ended ??= pool.end())
  const lender: PostgresPool = { options: pool.options, connect: lend, end }
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: lender }) })
  return {
    db,
    origin: url,
    apart: (work) => work(db),
    async pipeline(queries) {
      const client = await lend()
      // Where nothing may be set for the session, it is set for the transaction.
      const limited = !prepare && purpose === 'turn'
      const rows = client.pipeline(limited ? [lockLimit, ...queries] : queries).finally(() => client.release())
      return limited ? (await rows).slice(1) : rows
    },
    async close() {
      await db.destroy()
      // Kysely ends no pool that it never used itself, and the pipeline uses it without Kysely.
      await end()
    },
  }
}

const lockLimit: CompiledQuery = sql`SELECT set_config('lock_timeout', ${String(turnLockMs)}, true)`.compile(
  withoutServer(),
)

/** A session of its own, for LISTEN. */
export function session(origin: Origin, purpose: string): Client {
  const name = `q ${purpose}`
  return new Client(typeof origin === 'string' ? clientConfig(origin, name) : { ...origin, ...habits(name) })
}

/** Says goodbye, and does not wait for an answer that may never come. */
export function endSession(client: Client): void {
  client.removeAllListeners()
  client.on('error', () => {})
  void client.end().catch(() => {})
  destroySocket(client)
}

type NameOf = (text: string) => string | undefined

interface LentClient extends PostgresPoolClient {
  pipeline(queries: readonly CompiledQuery[]): Promise<unknown[][]>
}

interface Lending extends PreparedSession {
  readonly nameOf: NameOf
}

/** Only what Kysely's drivers use, and the pipeline; nothing here streams by cursor. */
function lent(client: PoolClient, { nameOf, limitTransaction }: Lending): LentClient {
  let unusable: Error | undefined
  async function noticing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Error && isAboutConnection(error)) unusable = error
      throw error
    }
  }
  function send(text: string, values: unknown[]): Promise<QueryResult> {
    const name = nameOf(text)
    return noticing(name === undefined ? client.query(text, values) : client.query({ name, text, values }))
  }
  const query = limitTransaction === undefined ? send : inLimitedTransactions(send, limitTransaction)
  return {
    query: query as unknown as PostgresPoolClient['query'],
    pipeline: (queries) =>
      noticing(
        pipeline(
          client,
          queries.map((compiled) => ({ query: compiled, name: pipelined(nameOf(compiled.sql)) })),
        ),
      ),
    release(destroy) {
      if (unusable !== undefined) destroySocket(client)
      client.release(unusable ?? destroy)
    },
  }
}

/** `pg` keeps account of the names it has prepared itself; these are ours. */
function pipelined(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `${name}|`
}

/** pg has no public way to give a connection up at once. */
function destroySocket(client: Client | PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

function clientConfig(url: string, name: string): ClientConfig {
  return { connectionString: urlOf(url).href, ...habits(name) }
}

function habits(name: string): ClientConfig {
  return {
    application_name: name,
    types: ownTypes,
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
  }
}
