/** Invalid payloads are rejected before anything is written, by the definition or by the published schema. */
import { z } from 'zod'
import { afterAll, expect, test } from 'vitest'
import { queue, task } from '@q/client'
import type { TaskNotice } from '@q/store'
import { fixture } from './fixture.ts'
import * as tasks from './tasks.ts'

const { url, store, runs, countingPool } = await fixture()
const { pool, taken } = countingPool()
const queues: { close(): Promise<void> }[] = []
afterAll(() => Promise.all(queues.map((one) => one.close())))

function opened<Q extends { close(): Promise<void> }>(q: Q): Q {
  queues.push(q)
  return q
}

async function publish(name: string, payloadSchema: TaskNotice['payloadSchema']): Promise<void> {
  await store.publishTasks('r', [{ name, queue: 'default', options: {}, payloadSchema }])
}

test('with definitions, the task’s own validator checks a payload without reading the database', async () => {
  const q = opened(queue(pool, { tasks }))
  const before = await runs()
  const bad = q.enqueue('resize', { url: 5, width: 'wide' } as never)
  await expect(bad).rejects.toMatchObject({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('"resize"') })
  await expect(bad).rejects.toMatchObject({ why: expect.stringMatching(/\/url: .*; \/width: /) })
  const many = q.enqueueMany([
    ['hello', { name: 'x' }],
    ['resize', { url: 5 }],
  ] as never)
  await expect(many).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    why: expect.stringMatching(/^run 2 of 2: \/url: /),
  })
  expect(await runs()).toBe(before)
  expect(taken().filter((text) => text.includes('payload_schema'))).toEqual([])
})

test('definitions determine queue and options; the payload is stored as passed, and only the replica converts it', async () => {
  const q = opened(queue(pool, { tasks }))
  const { id } = await q.enqueue('resize', { url: 'x' })
  const { run } = (await store.getTaskRun(id))!
  expect(run).toMatchObject({ queue: 'cpu', maxAttempts: 3, payload: { url: 'x' } })
  const named = await q.enqueue('images.thumbnail', { url: 'x' })
  expect((await q.get(named))?.task).toBe('images.thumbnail')
  const first = await q.enqueue('once', { key: 'a' })
  expect(await q.enqueue('once', { key: 'a' })).toMatchObject({ id: first.id, duplicate: true })
})

test('a problem is located by a JSON pointer', async () => {
  const input = z.object({ 'a/b~c': z.array(z.object({ n: z.number() })) })
  const odd = task({ input }, () => 1)
  const q = opened(queue(url, { tasks: { odd } }))
  const bad = q.enqueue('odd', { 'a/b~c': [{ n: 1 }, { n: 'x' }] } as never)
  await expect(bad).rejects.toMatchObject({ why: expect.stringMatching(/^\/a~1b~0c\/1\/n: /) })
})

test('an asynchronous validator is awaited', async () => {
  const input = z.object({ id: z.number() }).refine(async ({ id }) => Promise.resolve(id > 0), 'not known')
  const q = opened(queue(url, { tasks: { slow: task({ input }, () => 1) } }))
  const bad = q.enqueue('slow', { id: -1 })
  await expect(bad).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    why: expect.stringContaining('the payload: not known'),
  })
  expect((await q.enqueue('slow', { id: 1 })).duplicate).toBe(false)
})

test('without definitions, the published JSON Schema checks a payload', async () => {
  const input = z.object({ url: z.url(), width: z.number().default(800) })
  await publish('resize', z.toJSONSchema(input, { io: 'input' }))
  const q = opened(queue<typeof tasks>(url))
  const before = await runs()
  const bad = q.enqueue('resize', { url: 5, width: 'wide' } as never)
  await expect(bad).rejects.toMatchObject({
    code: 'INVALID_PAYLOAD',
    why: '/url: must be string; /width: must be number.',
  })
  const missing = q.enqueue('resize', {} as never)
  await expect(missing).rejects.toMatchObject({ why: '/url: is missing.' })
  expect(await runs()).toBe(before)
  await q.enqueue('resize', { url: 'https://example.org' })
  expect(await runs()).toBe(before + 1)
})

test('the client ignores `format`, about which validators disagree', async () => {
  await publish('mails', { type: 'object', properties: { to: { type: 'string', format: 'email' } } })
  const q = opened(queue(url))
  await q.enqueue('mails', { to: 'jürgen@exämple' })
  await expect(q.enqueue('mails', { to: 1 })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
})

test.each([
  ['a type that is none', { type: 'no such type' }],
  ['a reference to nowhere', { $ref: 'https://example.org/schema.json' }],
  ['a pattern that is none', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ['another dialect', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }],
])('a published schema with %s does not reject any payload', async (what, schema) => {
  await publish(what.replaceAll(' ', '-'), schema)
  const q = opened(queue(url))
  expect((await q.enqueue(what.replaceAll(' ', '-'), { a: 1 })).duplicate).toBe(false)
})

test('two tasks whose schemas have the same id are both checked', async () => {
  const q = opened(queue(url))
  for (const name of ['a', 'b']) {
    await publish(`same-${name}`, { $id: 'https://example.org/same', type: 'object', required: [name] })
  }
  await expect(q.enqueue('same-a', { b: 1 })).rejects.toMatchObject({ why: '/a: is missing.' })
  await expect(q.enqueue('same-b', { a: 1 })).rejects.toMatchObject({ why: '/b: is missing.' })
})

test('an additional property is reported where the schema forbids it', async () => {
  await publish('strict', { type: 'object', properties: { a: {} }, additionalProperties: false })
  const q = opened(queue(url))
  await expect(q.enqueue('strict', { 'b/c': 1 })).rejects.toMatchObject({ why: '/b~1c: is not expected.' })
})

test('at most ten problems of a payload are reported', async () => {
  await publish('numbers', { type: 'array', items: { type: 'number' } })
  const q = opened(queue(url))
  const bad = q.enqueue(
    'numbers',
    Array.from({ length: 25 }, () => 'x'),
  )
  await expect(bad).rejects.toMatchObject({ why: expect.stringMatching(/\/9: must be number; and 15 more\.$/) })
})
