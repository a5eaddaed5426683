/**
 * The only place where connections are made.
 *
 * Classes, so that a flood of one kind of work cannot starve another: `control` (one connection: beats and leases),
 * `turn` (one: finish, start and claim), `pool` (everything else), `migrate` (one, without a limit for a statement: DDL
 * may wait long for a lock), and the sessions of listeners. All have a limit for connecting, and TCP keepalive: a
 * half-open connection is otherwise noticed after many minutes. A connection that broke, or on which a statement took
 * too long, is destroyed and not used again: its answer may still come, or never. The server ends such a statement too,
 * and a transaction that a replica does not go on with.
 *
 * `control` and `turn` keep the plans of prepared statements. A plan that is kept must be right for a table of any size,
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
import { preparedName } from './prepared.ts'
import { sqlState } from './sql-state.ts'
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
  /** False behind a pooler that gives each transaction another session: no prepared statements, no settings. */
  readonly prepare?: boolean
  /** Enqueues send no wake when they commit: whoever uses this connection sends one afterwards, for many. */
  readonly quiet?: boolean
  /** Told when an idle connection breaks; the next statement gets a new one. */
  readonly onBroken?: (error: Error) => void
}

const limits = { connectMsMax: 5_000, statementMsMax: 30_000, idleMsMax: 30_000, lockMsMax: 100, abandonedMsMax: 1_000 }

export function connect(url: string, options: ConnectionOptions): Connection {
  const { purpose, prepare = true } = options
  const pool = new Pool({
    ...clientConfig(url, `q ${purpose}`),
    max: purpose === 'pool' ? (options.connectionsMax ?? 4) : 1,
    idleTimeoutMillis: limits.idleMsMax,
    ...(purpose === 'migrate' ? {} : { query_timeout: options.statementMsMax ?? limits.statementMsMax }),
  })
  const keepsPlans = prepare && (purpose === 'control' || purpose === 'turn')
  const settings = prepare ? settingsOf(options, keepsPlans) : ''
  // Without handlers a connection that the server closes, idle or in use, would end this process.
  pool.on('error', (error) => options.onBroken?.(error))
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // Sent before anything else on this connection. If it fails, so does what comes next.
    if (settings !== '') void client.query(settings).catch(() => destroySocket(client))
  })
  const nameOf = keepsPlans ? preparedName : () => undefined
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: withoutBrokenOnes(pool, nameOf) }) })
  return {
    db,
    origin: url,
    apart: (work) => work(db),
    async pipeline(queries) {
      const client = lent(await pool.connect(), nameOf)
      // Where nothing may be set for the session, it is set for the transaction.
      const limited = !prepare && purpose === 'turn'
      const rows = client.pipeline(limited ? [lockLimit, ...queries] : queries).finally(() => client.release())
      return limited ? (await rows).slice(1) : rows
    },
    close: () => db.destroy(),
  }
}

const lockLimit: CompiledQuery = sql`SELECT set_config('lock_timeout', ${String(limits.lockMsMax)}, true)`.compile(
  withoutServer(),
)

/** Plans that are kept may use indexes and loops over few rows, and nothing else. */
const pins: readonly string[] = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']

function settingsOf(options: ConnectionOptions, keepsPlans: boolean): string {
  const { purpose, quiet = false, statementMsMax = limits.statementMsMax } = options
  const settings = [
    ...(keepsPlans ? ['plan_cache_mode = force_generic_plan', ...pins.map((scan) => `enable_${scan} = off`)] : []),
    // A run that a user has locked must not hold up the others: turn.ts goes another way then.
    ...(purpose === 'turn' ? [`lock_timeout = ${limits.lockMsMax}`] : []),
    ...(quiet ? [`q.quiet = 'on'`] : []),
  ]
  if (settings.length === 0) return ''
  const abandonedMs = statementMsMax + limits.abandonedMsMax
  const always = [
    // What we have given up must not wait on over there, for a lock, with a connection that nobody uses.
    `statement_timeout = ${abandonedMs}`,
    // Stopped or cut off in the middle of a transaction, we must not keep runs locked: nobody could recover them.
    `idle_in_transaction_session_timeout = ${abandonedMs}`,
    // Whoever has waited for a lock looks again, and must see what was committed meanwhile.
    `default_transaction_isolation = 'read committed'`,
    `datestyle = 'ISO'`,
  ]
  return [...settings, ...always].map((setting) => `SET ${setting};`).join(' ')
}

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

function withoutBrokenOnes(pool: Pool, nameOf: NameOf): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      return lent(await pool.connect(), nameOf)
    },
    end: () => pool.end(),
  }
}

interface LentClient extends PostgresPoolClient {
  pipeline(queries: readonly CompiledQuery[]): Promise<unknown[][]>
}

/** Only what Kysely's drivers use, and the pipeline; nothing here streams by cursor. */
function lent(client: PoolClient, nameOf: NameOf): LentClient {
  let unusable: Error | undefined
  async function noticing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Error && !isAnswer(error)) unusable = error
      throw error
    }
  }
  function query(text: string, values: unknown[]): Promise<QueryResult> {
    const name = nameOf(text)
    return noticing(name === undefined ? client.query(text, values) : client.query({ name, text, values }))
  }
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

/** The server refused the statement and goes on serving us; any other error says that the connection is of no use. */
function isAnswer(error: Error): boolean {
  const code = sqlState(error)
  if (code === undefined) return false
  return !code.startsWith('57P') && !code.startsWith('08') && !useless.has(code)
}

/**
 * What we prepared is not there any more, or not what it was; our transaction took too long, and the session ended with
 * it; the server only reads, and after a failover another connection may reach the one that writes.
 */
const useless: ReadonlySet<string> = new Set(['0A000', '26000', '25P03', '25P04', '25006'])

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
    connectionTimeoutMillis: limits.connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
  }
}
