/** What is no transaction does not compile, where its type can tell. Judged by the type checker. */
import type { drizzle as drizzlePg } from 'drizzle-orm/node-postgres'
import type { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js'
import type { Knex } from 'knex'
import type { ControlledTransaction, Kysely, Transaction } from 'kysely'
import type { Client, Pool, PoolClient } from 'pg'
import type { Sql, TransactionSql } from 'postgres'
import { expect, test } from 'vitest'
import type { Queue } from '@q/client'
import type { PrismaClient, TransactionClient } from '../prisma/client.ts'
import type * as tasks from '../tasks.ts'

interface Shop {
  readonly orders: { readonly id: number }
}
type Schema = Record<string, never>
type First<Work> = Work extends (tx: infer Tx) => unknown ? Tx : never
type DrizzlePg = ReturnType<typeof drizzlePg<Schema>>
type DrizzlePostgresJs = ReturnType<typeof drizzlePostgresJs<Schema>>

interface Inside {
  readonly client: Client
  readonly poolClient: PoolClient
  readonly kysely: Transaction<Shop>
  readonly controlled: ControlledTransaction<Shop>
  readonly drizzlePg: First<Parameters<DrizzlePg['transaction']>[0]>
  readonly drizzlePostgresJs: First<Parameters<DrizzlePostgresJs['transaction']>[0]>
  readonly postgresJs: TransactionSql
  readonly postgresJsTyped: TransactionSql<{ bigint: bigint }>
  readonly knex: Knex.Transaction
  readonly prisma: TransactionClient
}

interface Outside {
  readonly pool: Pool
  readonly kysely: Kysely<Shop>
  readonly drizzlePg: DrizzlePg
  readonly drizzlePostgresJs: DrizzlePostgresJs
  readonly postgresJs: Sql
  readonly knex: Knex
  readonly prisma: PrismaClient
}

const accepted = async (q: Queue<typeof tasks>, tx: Inside) => {
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.client })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.poolClient })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.kysely })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.controlled })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.drizzlePg })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.drizzlePostgresJs })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.postgresJs })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.postgresJsTyped })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.knex })
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.prisma })
}

const refused = async (q: Queue<typeof tasks>, tx: Outside) => {
  // @ts-expect-error each query on a pool may be another client's
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.pool })
  // @ts-expect-error a Kysely outside of transactions
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.kysely })
  // @ts-expect-error a database of Drizzle
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.drizzlePg })
  // @ts-expect-error a database of Drizzle
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.drizzlePostgresJs })
  // @ts-expect-error the sql of postgres.js
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.postgresJs })
  // @ts-expect-error a Knex outside of transactions
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.knex })
  // @ts-expect-error a PrismaClient
  await q.enqueue('hello', { name: 'Ada' }, { tx: tx.prisma })
  // @ts-expect-error anything else
  await q.enqueue('hello', { name: 'Ada' }, { tx: {} })
}

test('the compiler accepts transactions of every library and rejects other handles', () => {
  expect([accepted, refused]).toHaveLength(2)
})
