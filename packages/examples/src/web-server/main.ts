/** `node main.ts`, with DATABASE_URL; a replica beside it: `Q_TASKS=tasks.ts q start`. */
import { Pool } from 'pg'
import { queue } from '@q/client'
import { createShop } from './server.ts'
import type * as tasks from './tasks.ts'

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', (error) => console.error('lost an idle connection:', error.message))
await pool.query('CREATE TABLE IF NOT EXISTS shop_order (id bigserial PRIMARY KEY, customer text, cents int)')
const q = queue<typeof tasks>(pool)
const server = createShop({ pool, q }).listen(8080, '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => void q.close().then(() => pool.end()))
})
