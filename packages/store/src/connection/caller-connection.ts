/**
 * A connection on the caller's own `pg` pool or client. Neither is ever closed here.
 *
 * A pool lends a client for each statement or transaction. Its options tell how to open a session of our own, for LISTEN
 * and for work that must not wait for a client of the pool: all clients may be in transactions that wait for that work.
 * If its sessions begin transactions with another isolation level, ours still read what was committed in the meantime, as on
 * connections of our own (session-settings.ts).
 * A client serves one piece of work after the other. If its owner has a transaction open on it, writes are part of that
 * transaction, and our own transactions are savepoints in it.
 */
import { ExplainedError, type DB } from '@q/schema'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import { Pool, type ClientConfig } from 'pg'
import type { PgClient } from '../adapters/using-pg.ts'
import type { Connection } from './db.ts'
import { pgTypeParsers } from './pg-type-parsers.ts'
import { inLimitedTransactions } from './session-settings.ts'

/** The used part of a `Pool`. */
export interface PgPool {
  readonly totalCount: number
  readonly options: object
  connect(): Promise<PgPoolClient>
}

interface PgPoolClient extends PgClient {
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  release(error?: Error | boolean): void
}

export function wrapCallerConnection(caller: PgPool | PgClient): Connection {
  const pool = isPool(caller) ? adaptPool(caller) : adaptClient(caller)
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: pool }) })
  return {
    db,
    origin: isPool(caller) ? originOf(caller) : undefined,
    onOwnConnection: (work) => (isPool(caller) ? onOwnConnection(originOf(caller), work) : work(db)),
    ...(isPool(caller) ? {} : { isInTransaction: () => caller.getTransactionStatus?.() !== 'I' }),
    async pipeline(queries, after) {
      const rows: unknown[][] = []
      if (queries.length > 0) {
        await db.transaction().execute(async (trx) => {
          for (const query of queries) rows.push((await trx.executeQuery(query)).rows)
        })
      }
      return { rows, after: after && db.executeQuery(after).then((answer) => answer.rows) }
    },
    close: () => db.destroy(),
  }
}

function isPool(caller: PgPool | PgClient): caller is PgPool {
  return 'totalCount' in caller
}

/** `pg` hides the password when the options are copied. */
function originOf({ options }: PgPool): ClientConfig {
  const password: unknown = Reflect.get(options, 'password')
  return {
    ...options,
    ...(password === undefined ? {} : { password: password as NonNullable<ClientConfig['password']> }),
  }
}

async function onOwnConnection<T>(config: ClientConfig, work: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const pool = new Pool({ ...config, max: 1, types: pgTypeParsers })
  pool.on('error', () => {})
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

function adaptPool(pool: PgPool): PostgresPool {
  const readsCommitted = new WeakMap<PgPoolClient, Promise<boolean>>()
  const lent = new Set<Promise<void>>()
  return {
    options: {},
    async connect() {
      const client = await pool.connect()
      const { promise: returned, resolve } = Promise.withResolvers<void>()
      lent.add(returned)
      // A checked-out client that breaks has no other listener and would end this process.
      const ignore = () => {}
      client.on('error', ignore)
      const wrapped = wrapClient(client, () => {
        client.off('error', ignore)
        client.release()
        lent.delete(returned)
        resolve()
      })
      const isUsual = readsCommitted.get(client) ?? readsCommittedByDefault(client)
      readsCommitted.set(client, isUsual)
      if (await isUsual) return wrapped
      const query = inLimitedTransactions(wrapped.query, readCommitted)
      return { ...wrapped, query: query as unknown as PostgresPoolClient['query'] }
    },
    end: async () => void (await Promise.all(lent)),
  }
}

const readCommitted = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'

/** If the client is broken, the next statement reports it. */
async function readsCommittedByDefault(client: PgClient): Promise<boolean> {
  const setting = "SELECT current_setting('default_transaction_isolation') AS isolation"
  const [row] = await client.query({ text: setting, values: [], types: pgTypeParsers }).then(
    ({ rows }) => rows,
    () => [],
  )
  return !['repeatable read', 'serializable'].includes(String(Reflect.get(Object(row), 'isolation')))
}

function adaptClient(client: PgClient): PostgresPool {
  if (client.getTransactionStatus === undefined) throw unsupportedClient()
  let free: Promise<void> = Promise.resolve()
  return {
    options: {},
    async connect() {
      const before = free
      const { promise, resolve } = Promise.withResolvers<void>()
      free = promise
      await before
      return wrapClient(client, resolve)
    },
    end: async () => {},
  }
}

const savepointVerbs: Readonly<Record<string, string>> = {
  begin: 'SAVEPOINT q_inner',
  commit: 'RELEASE SAVEPOINT q_inner',
  rollback: 'ROLLBACK TO SAVEPOINT q_inner',
}

/**
 * Only what Kysely's driver uses. Our transactions limit their waits for locks (promote.ts). PostgreSQL keeps that limit
 * when a savepoint is released, so the limit of the caller's transaction is set again.
 */
function wrapClient(client: PgClient, release: () => void): PostgresPoolClient {
  let isInner = false
  let lockTimeout: unknown
  const send = (text: string, values: readonly unknown[] = []) =>
    client.query({ text, values: [...values], types: pgTypeParsers })
  async function query(text: string, values?: readonly unknown[]) {
    const verb = text.startsWith('start transaction') ? 'begin' : text
    if (verb === 'begin') isInner = (client.getTransactionStatus?.() ?? 'I') !== 'I'
    if (isInner && verb === 'begin') lockTimeout = await currentLockTimeout(send)
    const answer = await send((isInner ? savepointVerbs[verb] : undefined) ?? text, values)
    if (isInner && verb === 'commit') await send("SELECT set_config('lock_timeout', $1, true)", [lockTimeout])
    return answer
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}

async function currentLockTimeout(send: (text: string) => ReturnType<PgClient['query']>): Promise<unknown> {
  const { rows } = await send("SELECT current_setting('lock_timeout') AS lock_timeout")
  return Reflect.get(Object(rows[0]), 'lock_timeout')
}

function unsupportedClient(): ExplainedError {
  return new ExplainedError({
    code: 'CLIENT_UNSUPPORTED',
    what: 'This client cannot say whether it is in a transaction.',
    why: 'It is not a client of pg, or its version of pg lacks getTransactionStatus().',
    fix: 'Upgrade pg, or pass a Pool or the URL of the database.',
  })
}
