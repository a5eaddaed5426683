import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { queue } from '@q/client'
import { createShop } from '../src/web-server/server.ts'
import type * as tasks from '../src/web-server/tasks.ts'
import { replicaWith } from './replica.ts'

test('1000 requests, half of them rolled back: exactly the committed half runs', async () => {
  const { url, store } = await replicaWith(new URL('../src/web-server/tasks.ts', import.meta.url))
  const pool = new Pool({ connectionString: url, max: 8 }).on('error', () => {})
  await pool.query('CREATE TABLE shop_order (id bigserial PRIMARY KEY, customer text, cents int)')
  const q = queue<typeof tasks>(pool)
  const server = createShop({ pool, q }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await q.close()
    await pool.end()
  })
  const shop = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`

  const accepted: { orderId: string; receipt: string }[] = []
  let declined = 0
  const order = async (number: number) => {
    const cents = number % 2 === 0 ? 1_000 + number : 20_000
    const answer = await fetch(shop, { method: 'POST', body: JSON.stringify({ customer: `c${number % 7}`, cents }) })
    if (answer.status === 201) accepted.push((await answer.json()) as (typeof accepted)[number])
    else declined += (await answer.text()) === 'the card was declined' ? 1 : 0
  }
  for (let first = 0; first < 1_000; first += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => order(first + index)))
  }
  expect({ accepted: accepted.length, declined }).toEqual({ accepted: 500, declined: 500 })

  const receipts = await Promise.all(accepted.map(({ receipt }) => q.handle(receipt).result({ timeout: '1m' })))
  expect(receipts).toEqual(accepted.map(({ orderId }) => expect.objectContaining({ orderId })))
  expect(await store.countRunsByState()).toEqual([{ status: 'SUCCEEDED', runs: 500 }])
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM shop_order')
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(accepted.map(({ orderId }) => orderId)))
})
