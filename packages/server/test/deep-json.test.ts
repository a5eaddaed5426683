/** JSON that is nested deeply, or written so that it is slow to read: refused, and harmless if it is stored already. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createSecrets } from '../src/secrets/secrets.ts'
import { rawRequest } from './raw-request.ts'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'
import { workScene } from './work-scene.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, tokens, store, db } = scene
const { busyWorker, rowOf } = workScene(scene)
const token = tokens.admin

await store.registerReplica(registration('aaa'))
await store.publishTasks('aaa', [{ name: 'hello', queue: 'default', options: {}, payloadSchema: null }])

const nested = (levels: number, inner = '"x"') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`
const bodyOf = (text: string) => `{"task":"hello","payload":${text}}`

test.each([
  ['a payload of 65 levels', bodyOf(nested(65)), 'deeper than 65'],
  ['a payload of 500 000 levels', bodyOf(nested(500_000)), 'deeper than 65'],
  ['levels that are never closed', '['.repeat(1_000_000), 'deeper than 65'],
  ['a string of a million escaped quotes that never ends', `"${'\\"'.repeat(500_000)}`, 'cannot be read as JSON'],
  ['a million quotes', '"'.repeat(1_000_000), 'cannot be read as JSON'],
  ['an integer that loses digits', bodyOf('{"n":9007199254740993}'), 'the integer 9007199254740993'],
  ['a backslash at the end', '{"a":"\\', 'cannot be read as JSON'],
])('a body of %s is refused', async (_, body, problem) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const answer = await rawRequest(scene.server.port, { method: 'POST', path: '/api/runs', headers, body })
  expect(answer).toMatchObject({ status: 400, code: 'PARAMETER_INVALID' })
  expect(answer.text).toContain(problem)
})

test('a payload of 64 levels is accepted as a value and as text, by both routes that take one', async () => {
  const text = nested(64)
  const enqueued = await ask('POST', '/api/runs', { token, body: { task: 'hello', payload: JSON.parse(text) } })
  expect(enqueued.status).toBe(201)
  const path = `/api/runs/${enqueued.data.runId}`
  expect((await ask('GET', `${path}/payload`, { token })).text).toBe(text)
  expect((await ask('POST', `${path}/again`, { token, body: { payloadText: text } })).status).toBe(201)
  expect((await ask('POST', '/api/runs', { token, body: { task: 'hello', payloadText: text } })).status).toBe(201)
})

test('brackets in strings do not count', async () => {
  const payload = { name: '[{'.repeat(100), quoted: '"[['.repeat(100), '[': '\\' }
  expect((await ask('POST', '/api/runs', { token, body: { task: 'hello', payload } })).status).toBe(201)
})

test.each([65, 3_000, 100_000])(
  'JSON text of %i levels inside a body is refused, and nothing is stored',
  async (levels) => {
    const text = nested(levels)
    const refused = { status: 400, data: { errors: [{ problem: 'is nested deeper than 64' }] } }
    expect(await ask('POST', '/api/runs', { token, body: { task: 'hello', payloadText: text } })).toMatchObject(refused)
    const { data } = await ask('POST', '/api/runs', { token, body: { task: 'hello' } })
    expect(await ask('POST', `/api/runs/${data.runId}/again`, { token, body: { payloadText: text } })).toMatchObject(
      refused,
    )
    const worker = await busyWorker()
    expect(await worker.write('finish', worker.run, { resultText: text })).toMatchObject(refused)
    expect(await rowOf(worker.run)).toMatchObject({ status: 'RUNNING', result: null })
  },
)

test('a payload that another program stored is answered, however deep it is', async () => {
  const { data } = await ask('POST', '/api/runs', { token, body: { task: 'hello' } })
  const deep = nested(3_000, '{"token":"very secret"}')
  await sql`UPDATE q.task_run SET payload = ${deep}::text::jsonb WHERE id = ${data.runId}`.execute(db)
  for (const path of [`/api/runs/${data.runId}`, `/api/runs/${data.runId}/payload`]) {
    const { status, text } = await ask('GET', path, { token })
    expect({ path, status, isShown: text.includes('very secret') }).toEqual({ path, status: 200, isShown: false })
  }
  expect(scene.faults).toEqual([])
})

test('hiding secrets ends at a depth that no stack overflows at', () => {
  const { inText, inValue } = createSecrets()
  const text = nested(50_000, '{"token":"very secret"}')
  const value = JSON.parse(text) as unknown
  expect(inText(text)).not.toContain('very secret')
  expect(JSON.stringify(inValue(value))).not.toContain('very secret')
  expect(JSON.stringify(inValue(value))).toContain('[hidden]')
})
