/** Requests that come again: with the key of an earlier one, with a session that is over, and many at once. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

let aheadMs = 0
const scene = await serverScene({}, { now: () => Date.now() + aheadMs })
afterAll(() => scene.close())
beforeEach(() => {
  aheadMs = 0
})
const { ask, tokens, db, store } = scene
await store.registerReplica(registration('aaa'))
const notice = { queue: 'default', options: {}, payloadSchema: null }
await store.publishTasks('aaa', [
  { name: 'hello', ...notice },
  { name: 'other', ...notice },
])

const enqueue = (key: string, body: object, token = tokens.enqueue) =>
  ask('POST', '/api/runs', { token, body, headers: { 'Idempotency-Key': key } })

test('a key that is sent again with another body answers the first run, which does not change', async () => {
  const first = await enqueue('one', { task: 'hello', payload: { name: 'first' } })
  expect(first).toMatchObject({ status: 201, data: { duplicate: false } })
  const { runId } = first.data
  const second = await enqueue('one', { task: 'hello', payload: { name: 'second' }, priority: 5, delayMs: 60_000 })
  expect(second).toMatchObject({ status: 200, data: { runId, status: 'AVAILABLE', duplicate: true } })
  expect(second.headers.get('Location')).toBe(`/api/runs/${runId}`)
  const { data } = await ask('GET', `/api/runs/${runId}`, { token: tokens.read })
  expect(data.run).toMatchObject({ payload: { name: 'first' }, priority: 0 })
  const { items } = await store.listActions({ limit: 2 })
  expect(items.map(({ subject, answer }) => [subject, answer])).toEqual([
    [`run ${runId}`, 'duplicate'],
    [`run ${runId}`, 'enqueued'],
  ])
})

test('a key belongs to its task, whichever token sends it', async () => {
  const first = await enqueue('two', { task: 'hello' })
  const byOther = await enqueue('two', { task: 'hello' }, tokens.admin)
  expect(byOther.data).toMatchObject({ runId: first.data.runId, duplicate: true })
  expect((await enqueue('two', { task: 'other' })).data).toMatchObject({ duplicate: false })
})

test('a key that is sent many times at once enqueues one run', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => enqueue('three', { task: 'hello' })))
  expect(new Set(answers.map(({ data }) => data.runId)).size).toBe(1)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
})

test.each([[''], ['x'.repeat(256)]])('the key %j is refused, and nothing is enqueued', async (key) => {
  const count = async () => (await db.selectFrom('q.task_run').select('id').execute()).length
  const before = await count()
  expect(await enqueue(key, { task: 'hello' })).toMatchObject({ status: 400, data: { code: 'RUN_OPTION_INVALID' } })
  expect(await count()).toBe(before)
})

test('both halves of a session are refused once it has expired, for reads and for actions', async () => {
  const { headers, data } = await ask('POST', '/api/session', { body: { token: tokens.admin } })
  const page = { Cookie: (headers.get('Set-Cookie') ?? '').split(';')[0] ?? '', 'Q-Proof': String(data.proof) }
  const answers = async () =>
    Promise.all([
      ask('GET', '/api/tasks', { headers: page }),
      ask('GET', '/api/events?unknown=1', { headers: page }),
      ask('PUT', '/api/queues/default/pause', { headers: page, body: {} }),
      ask('DELETE', '/api/session', { headers: page }),
    ])
  aheadMs = 12 * 3_600_000 - 60_000
  expect((await ask('GET', '/api/tasks', { headers: page })).status).toBe(200)
  aheadMs = 12 * 3_600_000 + 1
  for (const answer of await answers()) expect(answer).toMatchObject({ status: 401, data: { code: 'UNAUTHORIZED' } })
  expect(await db.selectFrom('q.queue').select('paused_by').execute()).toEqual([])
})

test('an address that quotes markup is answered as JSON that no browser sniffs', async () => {
  const markup = encodeURIComponent('<img src=x onerror=alert(1)>')
  for (const query of [`queue=${markup}`, `${markup}=1`, `limit=${markup}`, `cursor=${markup}`]) {
    const { headers } = await ask('GET', `/api/runs?${query}`, { token: tokens.read })
    expect(headers.get('Content-Type')).toMatch(/^application\/(problem\+)?json; charset=utf-8$/)
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  }
})
