/**
 * The libraries in which users have their transactions, each as its users use it. They are taught to read values
 * strangely where they can be: bigint as number, names in other cases.
 */
import { PrismaPg } from '@prisma/adapter-pg'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import knex from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect, sql as kyselySql } from 'kysely'
import { Pool, types, type CustomTypesConfig } from 'pg'
import postgres from 'postgres'
import type { TransactionHandle } from '@q/client'
import { PrismaClient } from '../prisma/client.ts'

export interface OpenedLibrary {
  /** Commits when the work is done, rolls back when it throws. `say`: a statement of the user's own in it. */
  inTransaction<T>(work: (tx: TransactionHandle, say: (text: string) => PromiseLike<unknown>) => Promise<T>): Promise<T>
  /** What the library also gives, and what is no transaction. */
  readonly outside: unknown
  close(): Promise<void>
}

const int8AsNumber: CustomTypesConfig = {
  getTypeParser: (oid, format): unknown =>
    oid === types.builtins.INT8
      ? Number
      : oid === types.builtins.TIMESTAMPTZ
        ? String
        : types.getTypeParser(oid, format),
}
/** Prisma ends a transaction that takes longer than 5 s; a busy machine may need more. */
const prismaOf = (url: string) =>
  new PrismaClient({
    adapter: new PrismaPg({ connectionString: url, max: 2 }),
    transactionOptions: { maxWait: 50_000, timeout: 50_000 },
  })
const poolOf = (url: string) => new Pool({ connectionString: url, max: 2, types: int8AsNumber })

export const libraries: Record<string, (url: string) => OpenedLibrary> = {
  pg(url) {
    const pool = poolOf(url)
    return {
      outside: pool,
      close: () => pool.end(),
      async inTransaction(work) {
        const client = await pool.connect()
        try {
          await client.query('BEGIN')
          const result = await work(client, (text) => client.query(text))
          await client.query('COMMIT')
          return result
        } catch (error) {
          await client.query('ROLLBACK')
          throw error
        } finally {
          client.release()
        }
      },
    }
  },
  Kysely(url) {
    const db = new Kysely<object>({
      dialect: new PostgresDialect({ pool: poolOf(url) }),
      plugins: [new CamelCasePlugin({ upperCase: true })],
    })
    return {
      outside: db,
      close: () => db.destroy(),
      inTransaction: (work) => db.transaction().execute((trx) => work(trx, (text) => kyselySql.raw(text).execute(trx))),
    }
  },
  'Kysely, controlled'(url) {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: poolOf(url) }) })
    return {
      outside: db,
      close: () => db.destroy(),
      async inTransaction(work) {
        const trx = await db.startTransaction().execute()
        try {
          const result = await work(trx, (text) => kyselySql.raw(text).execute(trx))
          await trx.commit().execute()
          return result
        } catch (error) {
          await trx.rollback().execute()
          throw error
        }
      },
    }
  },
  'Drizzle with pg'(url) {
    const pool = poolOf(url)
    const db = drizzlePg(pool)
    return {
      outside: db,
      close: () => pool.end(),
      inTransaction: (work) => db.transaction((tx) => work(tx, (text) => tx.execute(drizzleSql.raw(text)))),
    }
  },
  'Drizzle with postgres.js'(url) {
    const client = postgres(url, { max: 2 })
    const db = drizzlePostgresJs(client)
    return {
      outside: db,
      close: () => client.end(),
      inTransaction: (work) => db.transaction((tx) => work(tx, (text) => tx.execute(drizzleSql.raw(text)))),
    }
  },
  'postgres.js': (url) => usingPostgres(postgres(url, { max: 2, types: { bigint: postgres.BigInt } })),
  'postgres.js without fetched types': (url) =>
    usingPostgres(postgres(url, { max: 2, fetch_types: false, prepare: false, transform: postgres.camel })),
  Knex(url) {
    const db = knex({
      client: 'pg',
      connection: url,
      pool: { min: 0, max: 2 },
      postProcessResponse: (result: unknown) => (Array.isArray(result) ? result.toReversed() : result),
    })
    return {
      outside: db,
      close: () => db.destroy(),
      inTransaction: (work) => db.transaction((trx) => work(trx, (text) => trx.raw(text))),
    }
  },
  Prisma(url) {
    const prisma = prismaOf(url)
    return {
      outside: prisma,
      close: () => prisma.$disconnect(),
      inTransaction: (work) => prisma.$transaction((tx) => work(tx, (text) => tx.$executeRawUnsafe(text))),
    }
  },
  'Prisma, extended': extended,
}

/** As some have it: with extensions of their own. */
function extended(url: string): OpenedLibrary {
  const prisma = prismaOf(url)
  const own = prisma.$extends({ client: { shop: () => 'mine' } })
  return {
    outside: own,
    close: () => prisma.$disconnect(),
    inTransaction: (work) => own.$transaction((tx) => work(tx, (text) => tx.$executeRawUnsafe(text))),
  }
}

function usingPostgres(sql: postgres.Sql): OpenedLibrary {
  return {
    outside: sql,
    close: () => sql.end(),
    async inTransaction<T>(work: (tx: TransactionHandle, say: (text: string) => PromiseLike<unknown>) => Promise<T>) {
      return (await sql.begin((trx) => work(trx, (text) => trx.unsafe(text)))) as T
    },
  }
}
