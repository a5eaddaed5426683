// with-drizzle.ts: the tx of db.transaction, here over pg
import { queue } from '@q/client'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { Pool } from 'pg'
import type * as tasks from './tasks.ts'

const orders = pgTable('orders', { id: integer().primaryKey().generatedAlwaysAsIdentity(), item: text().notNull() })

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', (error) => console.error('lost an idle connection:', error.message))
const db = drizzle(pool)
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return db.transaction(async (tx) => {
    const [made] = await tx.insert(orders).values({ item }).returning({ id: orders.id })
    const run = await q.enqueue('receipt', { order: made!.id }, { tx })
    return run.id
  })
}

export const close = () => Promise.all([pool.end(), q.close()])
