// with-kysely.ts: a Transaction, or a ControlledTransaction
import { queue } from '@q/client'
import { Kysely, PostgresDialect, type Generated } from 'kysely'
import { Pool } from 'pg'
import type * as tasks from './tasks.ts'

interface Shop {
  orders: { id: Generated<number>; item: string }
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', (error) => console.error('lost an idle connection:', error.message))
const db = new Kysely<Shop>({ dialect: new PostgresDialect({ pool }) })
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const { id } = await trx.insertInto('orders').values({ item }).returning('id').executeTakeFirstOrThrow()
    const run = await q.enqueue('receipt', { order: id }, { tx: trx })
    return run.id
  })
}

export const close = () => Promise.all([db.destroy(), q.close()])
