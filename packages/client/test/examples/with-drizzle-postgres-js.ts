// with-drizzle-postgres-js.ts: the same over postgres.js
import { queue } from '@q/client'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import type * as tasks from './tasks.ts'

const orders = pgTable('orders', { id: integer().primaryKey().generatedAlwaysAsIdentity(), item: text().notNull() })

const sql = postgres(process.env.DATABASE_URL!)
const db = drizzle(sql)
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return db.transaction(async (tx) => {
    const [made] = await tx.insert(orders).values({ item }).returning({ id: orders.id })
    const run = await q.enqueue('receipt', { order: made!.id }, { tx })
    return run.id
  })
}

export const close = () => Promise.all([sql.end(), q.close()])
