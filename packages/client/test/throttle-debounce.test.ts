/** Which of several enqueues counts, as a producer sees it. */
import { sql } from 'kysely'
import { afterAll, expect, expectTypeOf, test } from 'vitest'
import { queue, type Queue } from '@q/client'
import { connect, createStore } from '@q/store'
import { optionData, type TaskOptions } from '@q/task'
import { testDatabase } from '@q/testing'
import { ownPool } from './fixture.ts'
import type * as tasks from './tasks.ts'

const database = await testDatabase()
const connection = connect(database.url, { purpose: 'pool' })
const store = createStore(connection.db)
const options: Record<string, TaskOptions> = {
  hello: { debounce: { key: '/name', for: '1h', max: '2h' } },
  resize: { throttle: { key: '/url', for: '1h' } },
}
await store.publishTasks(
  'r',
  Object.entries(options).map(([name, own]) => ({
    name,
    queue: 'default',
    options: optionData(own),
    payloadSchema: null,
  })),
)
const q = queue<typeof tasks>(database.url)
const pool = ownPool(database.url, 1)
afterAll(async () => {
  await q.close()
  await pool.end()
  await connection.close()
  await database.drop()
})

async function payloadOf(id: string): Promise<unknown> {
  const { rows } = await sql<{ payload: unknown }>`SELECT payload FROM q.task_run WHERE id = ${id}`.execute(
    connection.db,
  )
  return rows[0]?.payload
}

test('a task that debounces: the last enqueue determines the waiting run, and all handles refer to it', async () => {
  const first = await q.enqueue('hello', { name: 'ada' })
  const last = await q.enqueue('hello', { name: 'ada', more: 1 } as never)
  expect([first.duplicate, last.duplicate]).toEqual([false, true])
  expect(last.id).toBe(first.id)
  expect(await payloadOf(first.id)).toEqual({ name: 'ada', more: 1 })
  expect((await q.enqueue('hello', { name: 'bob' })).duplicate).toBe(false)
})

test('a task that throttles: the first enqueue creates the run of the window', async () => {
  const first = await q.enqueue('resize', { url: 'a' })
  const second = await q.enqueue('resize', { url: 'a', width: 5 })
  expect([first.duplicate, second.duplicate]).toEqual([false, true])
  expect(second.id).toBe(first.id)
  expect(await payloadOf(first.id)).toEqual({ url: 'a' })
})

test('an enqueue in the caller’s own transaction takes effect at its commit', async () => {
  const first = await q.enqueue('hello', { name: 'tx' })
  const undone = connection.db.transaction().execute(async (tx) => {
    expect((await q.enqueue('hello', { name: 'tx', more: 1 } as never, { tx })).duplicate).toBe(true)
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await payloadOf(first.id)).toEqual({ name: 'tx' })
  await connection.db.transaction().execute((tx) => q.enqueue('hello', { name: 'tx', more: 2 } as never, { tx }))
  expect(await payloadOf(first.id)).toEqual({ name: 'tx', more: 2 })
})

test('concurrent enqueues in one transaction create one run, and the last one wins', async () => {
  const own = await pool.connect()
  await own.query('BEGIN')
  const asked = [1, 2, 3].map((more) => q.enqueue('hello', { name: 'at once', more } as never, { tx: own }))
  const runs = await Promise.all(asked)
  await own.query('COMMIT')
  own.release()
  expect(runs.map(({ duplicate }) => duplicate)).toEqual([false, true, true])
  expect(new Set(runs.map(({ id }) => id)).size).toBe(1)
  expect(await payloadOf(runs[0]!.id)).toEqual({ name: 'at once', more: 3 })
})

test('options of an enqueue replace those of its task', async () => {
  const own = { throttle: { key: 'payload', for: '1h' } } as const
  const first = await q.enqueue('hello', { name: 'own' }, own)
  expect((await first.status()).status).toBe('AVAILABLE')
  expect(await q.enqueue('hello', { name: 'own' }, own)).toMatchObject({ id: first.id, duplicate: true })
  const debounced = await q.enqueue('resize', { url: 'own' }, { debounce: { key: '/url', for: '1h' } })
  expect((await debounced.status()).status).toBe('PENDING')
})

test('enqueues with one idempotency key return one run, whatever their payloads and options', async () => {
  const first = await q.enqueue('hello', { name: 'a' }, { idempotencyKey: 'request 1' })
  expect(first.duplicate).toBe(false)
  expect(await q.enqueue('hello', { name: 'b' }, { idempotencyKey: 'request 1' })).toMatchObject({
    id: first.id,
    duplicate: true,
  })
  const other = await q.enqueue('hello', { name: 'a' }, { idempotencyKey: 'request 2' })
  expect(other.id).not.toBe(first.id)
  const ofOtherTask = await q.enqueue('resize', { url: 'request 1' }, { idempotencyKey: 'request 1' })
  expect(ofOtherTask.duplicate).toBe(false)
})

test.each([
  [{ idempotencyKey: '' }, 'idempotencyKey'],
  [{ idempotencyKey: 'k', throttle: { key: 'payload', for: '1h' } }, 'idempotencyKey'],
  [{ throttle: { key: 'name', for: '1h' } }, 'throttle'],
  [{ debounce: { key: '/name', for: '1h', max: '1s' } }, 'debounce'],
  [{ debounce: { key: '/name', for: '1h' }, throttle: { key: '/name', for: '1h' } }, 'debounce'],
  [{ debounce: { key: '/name', for: '1h' }, delay: '1s' }, 'the window is the delay'],
])('%j is refused', async (wrong, why) => {
  const refused = q.enqueue('hello', { name: 'x' }, wrong as never)
  await expect(refused).rejects.toMatchObject({ code: 'RUN_OPTION_INVALID', why: expect.stringContaining(why) })
})

const neverCalled = async (typed: Queue<typeof tasks>) => {
  expectTypeOf((await typed.enqueue('hello', { name: 'x' })).duplicate).toEqualTypeOf<boolean>()
  // @ts-expect-error a key is 'payload' or a JSON pointer
  await typed.enqueue('hello', { name: 'x' }, { throttle: { key: 'name', for: '1s' } })
  // @ts-expect-error a window has a length
  await typed.enqueue('hello', { name: 'x' }, { debounce: { key: '/name' } })
  // @ts-expect-error not a duration
  await typed.enqueue('hello', { name: 'x' }, { expires: '5 parsecs' })
}

test('keys and windows are typed', () => expect(neverCalled).toBeTypeOf('function'))
