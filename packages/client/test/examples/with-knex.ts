// with-knex.ts: the trx of knex.transaction
import { queue } from '@q/client'
import knex from 'knex'
import type * as tasks from './tasks.ts'

const db = knex({ client: 'pg', connection: process.env.DATABASE_URL! })
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return db.transaction(async (trx) => {
    const [made] = await trx<{ id: number; item: string }>('orders').insert({ item }).returning('id')
    const run = await q.enqueue('receipt', { order: made!.id }, { tx: trx })
    return run.id
  })
}

export const close = () => Promise.all([db.destroy(), q.close()])
