/** Runs, as a producer finds, cancels and repeats them. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { queue } from '@q/client'
import { listen } from '@q/store'
import { fixture } from './fixture.ts'
import type * as tasks from './tasks.ts'

const { url, connection, store, settle } = await fixture()
const q = queue<typeof tasks>(url)
afterAll(() => q.close())

const done = { status: 'SUCCEEDED', result: '"done"' } as const

test('a run is found by its id, by its handle or by a row of a list', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  await settle(done)
  const found = { id: run.id, task: 'hello', status: 'SUCCEEDED', result: 'done' }
  expect(await q.get(run.id)).toMatchObject(found)
  expect(await q.get(run)).toMatchObject(found)
  const { runs } = await q.list({ task: 'hello' }, { limit: 1 })
  expect(runs).toMatchObject([{ id: run.id }])
  expect(await q.get(runs[0]!)).toMatchObject(found)
})

test('a missing run is not found, and an invalid id is rejected', async () => {
  expect(await q.get('999999999')).toBeUndefined()
  await expect(q.handle('999999999').result({ timeout: '100s' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await expect(q.handle('999999999').status()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  expect(await q.cancel('999999999')).toBe('not-found')
  expect(await q.retry('999999999')).toBe('not-found')
  for (const id of ['0', '-1', 'x', '1.5', '99999999999999999999']) {
    expect(() => q.handle(id)).toThrow(expect.objectContaining({ code: 'RUN_ID_INVALID' }))
    await expect(q.cancel({ id })).rejects.toMatchObject({ code: 'RUN_ID_INVALID' })
  }
})

test('a page continues where the previous one ended', async () => {
  const handles = await q.enqueueMany(['a', 'b', 'c'].map((name) => ['images.thumbnail', { url: name }] as const))
  const first = await q.list({ task: 'images.thumbnail', status: ['queued'] }, { limit: 2 })
  const second = await q.list({ task: 'images.thumbnail' }, { cursor: first.next!, limit: 2 })
  expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual(handles.map(({ id }) => id).toReversed())
  expect(second.next).toBeUndefined()
  await settle(done, 3)
})

test('cancel ends a waiting run at once, requests a running one to stop, and leaves an ended one unchanged', async () => {
  const waiting = await q.enqueue('hello', { name: 'x' }, { delay: '1h' })
  expect(await q.cancel(waiting)).toBe('cancelled')
  await expect(waiting.result()).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
  const running = await q.enqueue('hello', { name: 'x' })
  await store.claimAvailableTaskRuns({ replicaId: 'r', tasks: ['hello'], queues: [], limit: 1 })
  expect(await running.cancel()).toBe('requested')
  expect(await q.cancel(waiting.id)).toBe('already-ended')
})

test('retry starts an ended run again and wakes idle replicas', async () => {
  const run = await q.enqueue('hello', { name: 'x' })
  expect(await q.retry(run)).toBe('not-ended')
  await settle({ status: 'FAILED', code: 'TASK_ERROR', detail: 'Error: no' })
  const { promise: received, resolve } = Promise.withResolvers<unknown>()
  const listener = await listen(url, 'q_ready', { onWake: resolve, onLost: () => {} })
  await store.markIdle('replica-aaaa')
  expect(await q.retry(run)).toBe('retried')
  expect(await received).toEqual({ channel: 'q_ready', queue: 'default' })
  listener.close()
  await store.markBusy('replica-aaaa')
  await settle(done)
  expect(await run.result({ timeout: '100s' })).toBe('done')
})

test.each([
  ['a function', () => 1, 'PAYLOAD_NOT_JSON'],
  ['undefined', undefined, 'PAYLOAD_NOT_JSON'],
  ['a bigint inside', { name: 1n }, 'PAYLOAD_NOT_JSON'],
  ['a NUL character', { name: '\0' }, 'PAYLOAD_UNSTORABLE'],
  ['a text of 2 MB', { name: 'x'.repeat(2_000_000) }, 'PAYLOAD_TOO_LARGE'],
])('%s is not a payload', async (_, payload, code) => {
  await expect(q.enqueue('hello', payload as never)).rejects.toMatchObject({ code })
})

test('a run goes to the queue that replicas have published for its task, even if they publish it later', async () => {
  const fresh = queue<typeof tasks>(url)
  const queueOf = async (id: string) => {
    const { rows } = await sql<{ queue: string }>`SELECT l.queue FROM q.task_run r JOIN q.lane l ON l.id = r.lane
      WHERE r.id = ${id}`.execute(connection.db)
    return rows[0]?.queue
  }
  expect(await queueOf((await fresh.enqueue('resize', { url: 'x' })).id)).toBe('default')
  await store.publishTasks('r', [{ name: 'resize', queue: 'cpu', options: { onCrash: 'retry' }, payloadSchema: null }])
  const later = queue<typeof tasks>(url)
  const run = await later.enqueue('resize', { url: 'x' })
  expect(await queueOf(run.id)).toBe('cpu')
  await Promise.all([fresh.close(), later.close()])
})
