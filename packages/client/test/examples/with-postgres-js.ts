// with-postgres-js.ts: the sql that sql.begin gives
import { queue } from '@q/client'
import postgres from 'postgres'
import type * as tasks from './tasks.ts'

const sql = postgres(process.env.DATABASE_URL!)
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return sql.begin(async (tx) => {
    const [made] = await tx<{ id: number }[]>`INSERT INTO orders (item) VALUES (${item}) RETURNING id`
    const run = await q.enqueue('receipt', { order: made!.id }, { tx })
    return run.id
  })
}

export const close = () => Promise.all([sql.end(), q.close()])
