/** What enqueues cost, as counts: statements, notifications and rows of each shape of calls. No count is a time. */
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, afterEach, expect, test } from 'vitest'
import { queue } from '@q/client'
import { fixture } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { store, connection, runs, countingPool, url } = await fixture()
const { pool, taken } = countingPool()
const q = queue<typeof tasks>(pool)
const listener = new Client({ connectionString: url })
await listener.connect()
await listener.query('LISTEN q_available; LISTEN q_gated; LISTEN q_due')
afterAll(() => Promise.all([q.close(), listener.end()]))
afterEach(() => store.markBusy('replica-aaaa'))

const notified: string[] = []
let onMark = () => {}
listener.on('notification', ({ channel, payload = '' }) => {
  if (payload.includes('"mark"')) onMark()
  else notified.push(channel)
})

/** Notifications arrive in the order of the commits: after this one, all that were sent before are here. */
async function notifications(): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<void>()
  onMark = resolve
  await store.wakeQueue('mark')
  await promise
  return notified.splice(0)
}

/** So that tasks and lanes have been looked up. */
await q.enqueue('hello', { name: 'first' })

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)

const shapes = {
  async 'one after the other'() {
    for (const name of names(20)) await q.enqueue('hello', { name })
  },
  'by 20 callers at once': () => Promise.all(names(20).map((name) => q.enqueue('hello', { name }))),
  'as a batch of 1000': () => q.enqueueMany(names(1_000).map((name) => ['hello', { name }] as const)),
  'as a batch that differs': () =>
    q.enqueueMany(names(50).map((name, at) => ['hello', { name }, { priority: at % 5 }] as const)),
  'for later': () => q.enqueueMany(names(50).map((name, at) => ['hello', { name }, { delay: 1_000 + at }] as const)),
} satisfies Record<string, () => Promise<unknown>>

const costs: readonly (readonly [keyof typeof shapes, { rows: number; statements: number; wakes: string[] }])[] = [
  ['one after the other', { rows: 20, statements: 20, wakes: Array<string>(20).fill('q_available') }],
  ['by 20 callers at once', { rows: 20, statements: 2, wakes: ['q_available', 'q_available'] }],
  ['as a batch of 1000', { rows: 1_000, statements: 1, wakes: ['q_available'] }],
  ['as a batch that differs', { rows: 50, statements: 1, wakes: ['q_available'] }],
  ['for later', { rows: 50, statements: 1, wakes: ['q_due'] }],
]

test.each(costs)(
  '%s: one round trip for each statement, and notifications only for an idle replica',
  async (shape, cost) => {
    for (const isIdle of [false, true]) {
      if (isIdle) await store.markIdle('replica-aaaa')
      const before = await runs()
      taken()
      await shapes[shape]()
      expect(taken()).toHaveLength(cost.statements)
      expect((await runs()) - before).toBe(cost.rows)
      expect(await notifications()).toEqual(isIdle ? cost.wakes : [])
    }
  },
)

test('an enqueue fires no row trigger', async () => {
  const { rows } = await sql<{ text: string }>`SELECT pg_get_functiondef('q.wake_idle'::regproc) AS text`.execute(
    connection.db,
  )
  await sql`CREATE OR REPLACE FUNCTION q.wake_idle() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE ''the trigger was called''; END'`.execute(connection.db)
  await shapes['one after the other']()
  await shapes['as a batch of 1000']()
  await expect(
    sql`INSERT INTO q.task_run (task, lane) SELECT task, lane FROM q.task_run LIMIT 1`.execute(connection.db),
  ).rejects.toThrow('the trigger was called')
  await sql.raw(rows[0]!.text).execute(connection.db)
})

test('in the caller’s transaction, the commit sends one wake', async () => {
  await store.markIdle('replica-aaaa')
  const client = await pool.connect()
  await client.query('BEGIN')
  await q.enqueueMany(
    names(10).map((name) => ['hello', { name }] as const),
    { tx: client },
  )
  expect(await notifications()).toEqual([])
  await client.query('COMMIT')
  client.release()
  expect(await notifications()).toEqual(['q_available'])
})

test('on the caller’s client with an open transaction, the commit sends the wake', async () => {
  await store.markIdle('replica-aaaa')
  const client = new Client({ connectionString: url })
  await client.connect()
  const own = queue<typeof tasks>(client)
  await client.query('BEGIN')
  await own.enqueue('hello', { name: 'x' })
  await client.query(`INSERT INTO q.task_run (task, lane) SELECT task, lane FROM q.task_run LIMIT 1`)
  expect(await notifications()).toEqual([])
  await client.query('COMMIT')
  expect(await notifications()).toEqual(['q_available'])
  await own.close()
  await client.end()
})
