/**
 * A connection made of what the caller already has: its pool, or its client, of `pg`. Neither is ever ended here.
 *
 * A pool lends a client for each statement or transaction; its options tell how to open a session of our own, for
 * LISTEN, and for what must not wait for a client of the pool: all of them may be out in transactions that wait for us.
 * A client serves one piece of work after the other. If its owner has a transaction open on it, what is written
 * is part of that one, and our own transactions are savepoints in it.
 */
import { ExplainedError, type DB } from '@q/schema'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import { Pool, type ClientConfig } from 'pg'
import type { PgClient } from './adapters/using-pg.ts'
import type { Connection } from './db.ts'
import { ownTypes } from './own-types.ts'

/** What is used of a `Pool`. */
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

export function borrow(owned: PgPool | PgClient): Connection {
  const lender = isPool(owned) ? poolLender(owned) : clientLender(owned)
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: lender }) })
  return {
    db,
    origin: isPool(owned) ? originOf(owned) : undefined,
    apart: (work) => (isPool(owned) ? alone(originOf(owned), work) : work(db)),
    ...(isPool(owned) ? {} : { isInTransaction: () => owned.getTransactionStatus?.() !== 'I' }),
    pipeline: (queries) =>
      db.transaction().execute(async (trx) => {
        const rows: unknown[][] = []
        for (const query of queries) rows.push((await trx.executeQuery(query)).rows)
        return rows
      }),
    close: () => db.destroy(),
  }
}

function isPool(owned: PgPool | PgClient): owned is PgPool {
  return 'totalCount' in owned
}

/** `pg` hides the password from whoever copies the options. */
function originOf({ options }: PgPool): ClientConfig {
  const password: unknown = Reflect.get(options, 'password')
  return {
    ...options,
    ...(password === undefined ? {} : { password: password as NonNullable<ClientConfig['password']> }),
  }
}

async function alone<T>(config: ClientConfig, work: (db: Kysely<DB>) => Promise<T>): Promise<T> {
  const pool = new Pool({ ...config, max: 1, types: ownTypes })
  pool.on('error', () => {})
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

function poolLender(pool: PgPool): PostgresPool {
  return {
    options: {},
    async connect() {
      const client = await pool.connect()
      // A client that breaks while it is out has no other listener, and would end this process.
      const ignore = () => {}
      client.on('error', ignore)
      return lent(client, () => {
        client.off('error', ignore)
        client.release()
      })
    },
    end: async () => {},
  }
}

function clientLender(client: PgClient): PostgresPool {
  if (client.getTransactionStatus === undefined) throw tooOld()
  let free: Promise<void> = Promise.resolve()
  return {
    options: {},
    async connect() {
      const before = free
      const { promise, resolve } = Promise.withResolvers<void>()
      free = promise
      await before
      return lent(client, resolve)
    },
    end: async () => {},
  }
}

const inner: Readonly<Record<string, string>> = {
  begin: 'SAVEPOINT q_inner',
  commit: 'RELEASE SAVEPOINT q_inner',
  rollback: 'ROLLBACK TO SAVEPOINT q_inner',
}

/** Only what Kysely's driver uses. */
function lent(client: PgClient, release: () => void): PostgresPoolClient {
  let isInner = false
  function query(text: string, values: readonly unknown[] = []) {
    const verb = text.startsWith('start transaction') ? 'begin' : text
    if (verb === 'begin') isInner = (client.getTransactionStatus?.() ?? 'I') !== 'I'
    return client.query({ text: (isInner ? inner[verb] : undefined) ?? text, values: [...values], types: ownTypes })
  }
  return { query: query as unknown as PostgresPoolClient['query'], release }
}

function tooOld(): ExplainedError {
  return new ExplainedError({
    code: 'CLIENT_UNSUPPORTED',
    what: 'This client cannot say whether it is in a transaction.',
    why: 'It is none of pg, or of a version of it that lacks getTransactionStatus().',
    fix: 'Upgrade pg, or pass a Pool or the URL of the database.',
  })
}
