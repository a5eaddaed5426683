/** What must not compile does not, and what comes back has the task's type. Judged by the type checker. */
import type { Kysely, Transaction } from 'kysely'
import type { Client, Pool, PoolClient } from 'pg'
import { expect, expectTypeOf, test } from 'vitest'
import { queue, type Connection, type Queue, type RunHandle } from '@q/client'
import type * as tasks from './tasks.ts'

interface OwnTables {
  readonly invoice: { readonly id: number }
}

const enqueues = async (q: Queue<typeof tasks>) => {
  expectTypeOf(await q.enqueue('hello', { name: 'Ada' })).toEqualTypeOf<RunHandle<string>>()
  expectTypeOf(await q.enqueue('resize', { url: 'x' })).toEqualTypeOf<RunHandle<{ bytes: number }>>()
  expectTypeOf(await (await q.enqueue('hello', { name: 'Ada' })).result()).toEqualTypeOf<string>()
  await q.enqueue('images.thumbnail', { url: 'x' })
  // @ts-expect-error no task has this name
  await q.enqueue('helo', { name: 'Ada' })
  // @ts-expect-error it is called otherwise than its export
  await q.enqueue('thumbnail', { url: 'x' })
  // @ts-expect-error an export that is not a task
  await q.enqueue('notATask', 'x')
  // @ts-expect-error the payload lacks its name
  await q.enqueue('hello', {})
  // @ts-expect-error the payload has a wrong type
  await q.enqueue('resize', { url: 5 })
  // @ts-expect-error the payload has a member too many
  await q.enqueue('hello', { name: 'Ada', nmae: 'Ada' })
  const { bytes } = await (await q.enqueue('resize', { url: 'x' })).result()
  // @ts-expect-error bytes are a number
  const text: string = bytes
  // @ts-expect-error the result has no such member
  const { width } = await (await q.enqueue('resize', { url: 'x' })).result()
  return [text, width]
}

const results = async (q: Queue<typeof tasks>) => {
  const { at } = await (await q.enqueue('stamp', { at: '2026-11-17' })).result()
  expectTypeOf(at).toEqualTypeOf<string>()
  expectTypeOf(await (await q.enqueue('nothing', null)).result()).toEqualTypeOf<null>()
  expectTypeOf(await (await q.runScheduleNow<'stamp'>('nightly')).result())
    .toHaveProperty('at')
    .toEqualTypeOf<string>()
  // @ts-expect-error text arrives, so text is enqueued
  await q.enqueue('stamp', { at: new Date() })
}

const options = async (q: Queue<typeof tasks>) => {
  const hello = { name: 'Ada' }
  await q.enqueue('hello', hello, { delay: '5m', priority: -10, group: 'tenant', expires: '1h' })
  await q.enqueue('hello', hello, { runAt: new Date(), expires: 5_000 })
  // @ts-expect-error not a duration
  await q.enqueue('hello', hello, { delay: '5 parsecs' })
  // @ts-expect-error not a duration either
  await q.enqueue('hello', hello, { expires: 'soon' })
  // @ts-expect-error not a date
  await q.enqueue('hello', hello, { runAt: '2030-01-01' })
  // @ts-expect-error a priority is a number
  await q.enqueue('hello', hello, { priority: 'high' })
  // @ts-expect-error no such option
  await q.enqueue('hello', hello, { dleay: '5m' })
  // @ts-expect-error not a duration
  await (await q.enqueue('hello', hello)).result({ timeout: 'a minute' })
}

const transactions = async (
  q: Queue<typeof tasks>,
  own: { trx: Transaction<OwnTables>; client: Client; pooled: PoolClient; pool: Pool; db: Kysely<OwnTables> },
) => {
  const hello = { name: 'Ada' }
  await q.enqueue('hello', hello, { tx: own.trx })
  await q.enqueue('hello', hello, { tx: own.client })
  await q.enqueueMany([['hello', hello]], { tx: own.pooled })
  // @ts-expect-error a pool is not a transaction
  await q.enqueue('hello', hello, { tx: own.pool })
  // @ts-expect-error a Kysely instance is not a transaction
  await q.enqueue('hello', hello, { tx: own.db })
  // @ts-expect-error a URL is not a transaction
  await q.enqueue('hello', hello, { tx: 'postgresql://localhost/x' })
  // @ts-expect-error a pool is not a transaction here either
  await q.enqueueMany([['hello', hello]], { tx: own.pool })
  // @ts-expect-error one transaction for all
  await q.enqueueMany([['hello', hello, { tx: own.client }]])
}

const batches = async (q: Queue<typeof tasks>) => {
  const [greeting, image] = await q.enqueueMany([
    ['hello', { name: 'Ada' }],
    ['resize', { url: 'x' }, { delay: '5m' }],
  ])
  expectTypeOf(greeting).toEqualTypeOf<RunHandle<string>>()
  expectTypeOf(image).toEqualTypeOf<RunHandle<{ bytes: number }>>()
  const many = await q.enqueueMany(['a', 'b'].map((url) => ['resize', { url }] as const))
  expectTypeOf(many).toEqualTypeOf<RunHandle<{ bytes: number }>[]>()
  // @ts-expect-error no task has this name
  await q.enqueueMany([['helo', { name: 'Ada' }]])
  // @ts-expect-error the payload of another task
  await q.enqueueMany([['resize', { name: 'Ada' }]])
  // @ts-expect-error no task has this name
  await q.list({ task: 'helo' })
}

const databases = (own: { pool: Pool; client: Client; connection: Connection }) => {
  queue<typeof tasks>(own.pool)
  queue<typeof tasks>(own.client)
  queue<typeof tasks>(own.connection)
  queue<typeof tasks>('postgresql://localhost/x')
  // @ts-expect-error not a database
  queue<typeof tasks>(5_432)
  // @ts-expect-error definitions of other tasks
  queue<typeof tasks>(own.pool, { tasks: { other: 1 } })
}

const untyped = async () => {
  const run = await queue('postgresql://localhost/x').enqueue('any', { thing: 1 })
  expectTypeOf(await run.result()).toEqualTypeOf<unknown>()
}

test('the types of the tasks determine names, payloads, options, transactions and results', () => {
  expect([enqueues, results, options, transactions, batches, databases, untyped]).toHaveLength(7)
  expect(() => queue<typeof tasks>(undefined)).toThrow(expect.objectContaining({ code: 'DATABASE_URL_MISSING' }))
})
