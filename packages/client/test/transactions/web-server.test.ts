/** A web server that writes an order and enqueues its receipt in one transaction; every second request fails at its end. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { testDatabase } from '@q/testing'
import type * as tasks from '../tasks.ts'
import { startReplica } from './start-replica.ts'

const visitors = 20
const requestsEach = 50

const database = await testDatabase()
const pool = new Pool({ connectionString: database.url, max: 4 })
await pool.query('CREATE TABLE public.orders (id integer PRIMARY KEY)')
const q = queue<typeof tasks>(database.url)
const replica = await startReplica(database.url)
const server = await listening()
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await q.close()
  await replica.leave()
  await pool.end()
  await database.drop()
})

/** The id of the run. */
async function order(id: number): Promise<string> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO public.orders VALUES ($1)', [id])
    const run = await q.enqueue('hello', { name: String(id) }, { tx: client })
    if (id % 2 === 1) throw new Error('the card was declined')
    await client.query('COMMIT')
    return run.id
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

function listening(): Promise<Server> {
  const { promise, resolve } = Promise.withResolvers<Server>()
  const made = createServer((request, response) => {
    void order(Number(request.url?.slice(1))).then(
      (runId) => response.writeHead(201).end(runId),
      () => response.writeHead(402).end(),
    )
  })
  made.listen(0, '127.0.0.1', () => resolve(made))
  return promise
}

/** The runs of the requests that were accepted. */
async function visit(visitor: number): Promise<string[]> {
  const { port } = server.address() as AddressInfo
  const runIds: string[] = []
  for (let id = visitor * requestsEach; id < (visitor + 1) * requestsEach; id++) {
    const response = await fetch(`http://127.0.0.1:${port}/${id}`, { method: 'POST' })
    if (response.status === 201) runIds.push(await response.text())
    else await response.arrayBuffer()
  }
  return runIds
}

test('of a thousand requests, half rolled back, exactly the committed half runs', { timeout: 300_000 }, async () => {
  const runIds = (await Promise.all(Array.from({ length: visitors }, (_, visitor) => visit(visitor)))).flat()
  expect(runIds).toHaveLength((visitors * requestsEach) / 2)
  const greetings = await Promise.all(runIds.map((id) => q.handle(id).result({ timeout: '4m' })))
  const { rows } = await pool.query<{ id: string; status: string; attempt: number }>(
    'SELECT id, status, attempt FROM q.task_run ORDER BY id',
  )
  const inOrder = runIds.toSorted((a, b) => Number(a) - Number(b))
  expect(rows).toEqual(inOrder.map((id) => ({ id, status: 'SUCCEEDED', attempt: 1 })))
  const { rows: orders } = await pool.query<{ id: number }>('SELECT id FROM public.orders ORDER BY id')
  expect(new Set(greetings)).toEqual(new Set(orders.map(({ id }) => `Hello, ${id}!`)))
  expect(orders.every(({ id }) => id % 2 === 0)).toBe(true)
})
