/**
 * A shop: POST /orders writes the order and enqueues its receipt in one transaction. Either both are there or neither,
 * whatever happens in between, without an outbox, a second write or a compensation.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Pool, PoolClient } from 'pg'
import type { Queue } from '@q/client'
import type * as tasks from './tasks.ts'

interface Shop {
  readonly pool: Pool
  readonly q: Queue<typeof tasks>
}

interface Order {
  readonly customer: string
  readonly cents: number
}

export function createShop(shop: Shop): Server {
  return createServer((request, response) => {
    takeOrder(shop, request).then(
      (answer) => response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
      (error: Error) => response.writeHead(409).end(error.message),
    )
  })
}

async function takeOrder({ pool, q }: Shop, request: IncomingMessage): Promise<{ orderId: string; receipt: string }> {
  const { customer, cents } = (await json(request)) as Order
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'INSERT INTO shop_order (customer, cents) VALUES ($1, $2) RETURNING id',
      [customer, cents],
    )
    const orderId = rows[0]!.id
    const run = await q.enqueue('receipt', { orderId, cents }, { tx, group: customer })
    if (cents > 10_000) throw new Error('the card was declined') // found out late: all of it is undone
    return { orderId, receipt: run.id }
  })
}

async function transaction<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
