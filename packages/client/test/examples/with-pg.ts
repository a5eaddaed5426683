// with-pg.ts: a client of pg, between BEGIN and COMMIT
import { queue } from '@q/client'
import { Pool } from 'pg'
import type * as tasks from './tasks.ts'

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', (error) => console.error('lost an idle connection:', error.message))
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const { rows } = await client.query<{ id: number }>('INSERT INTO orders (item) VALUES ($1) RETURNING id', [item])
    const run = await q.enqueue('receipt', { order: rows[0]!.id }, { tx: client })
    await client.query('COMMIT')
    return run.id
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

export const close = () => Promise.all([pool.end(), q.close()])
