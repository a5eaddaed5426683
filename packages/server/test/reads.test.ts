/** Every GET of the table, on a database with a little of everything: answered, and as its schema says. */
import { afterAll, expect, test } from 'vitest'
import { apiRoutes } from '@q/server'
import { getPaths } from './get-paths.ts'
import { serverScene } from './scene.ts'
import { seed } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, tokens, store } = scene
const ids = await seed(store, scene.database.url)
const operation = await store.requestOperation({ kind: 'retry', filter: { task: 'hello' }, by: 'test' })
const token = tokens.read

/** A route that is not here fails the test. */
const paths = getPaths({ ...ids, operationId: operation.id })

test.each(Object.keys(apiRoutes).filter((key) => key.startsWith('GET ')))(
  '%s answers as its schema says',
  async (key) => {
    expect(paths[key]).toBeDefined()
    scene.faults.length = 0
    for (const path of paths[key] ?? []) {
      const { status, text } = await ask('GET', path, { token })
      expect({ path, status, text: status === 200 ? '' : text, faults: scene.faults }).toEqual({
        path,
        status: 200,
        text: '',
        faults: [],
      })
    }
  },
)

test('payload and result are answered as they are stored: no digit is lost', async () => {
  const { text } = await ask('GET', `/api/runs/${ids.endedId}/result`, { token })
  expect(text).toBe('{"big": 9007199254740993}')
})

test.each([
  '/api/nodes/none',
  '/api/runs/999999',
  '/api/runs/99999999999999999999',
  '/api/runs/0/why',
  '/api/runs/999999/why',
  '/api/workflows/999999',
  '/api/workflows/999999/steps',
  '/api/schedules/none',
  '/api/errors/none',
  '/api/operations/999999',
  '/api/queues/none',
])('%s is answered with 404', async (path) => {
  expect(await ask('GET', path, { token })).toMatchObject({ status: 404, data: { code: 'NOT_FOUND' } })
})

test('pages follow each other without a gap, and a cursor belongs to its list', async () => {
  const all = await ask('GET', '/api/runs?limit=100', { token })
  const seen: string[] = []
  for (let next = ''; ;) {
    const { data } = await ask('GET', `/api/runs?limit=2${next}`, { token })
    seen.push(...data.runs.map(({ id }: { id: string }) => id))
    if (data.next === undefined) break
    const other = await ask('GET', `/api/runs?limit=2&task=hello&cursor=${data.next}`, { token })
    expect(other).toMatchObject({ status: 400, data: { code: 'CURSOR_OF_OTHER_LIST' } })
    expect(await ask('GET', `/api/recoveries?cursor=${data.next}`, { token })).toMatchObject({ status: 400 })
    next = `&cursor=${data.next}`
  }
  expect(seen).toEqual(all.data.runs.map(({ id }: { id: string }) => id))
})

test('an answer that has not changed is not sent again', async () => {
  const first = await ask('GET', '/api/tasks', { token })
  const tag = first.headers.get('ETag') ?? ''
  expect(await ask('GET', '/api/tasks', { token, headers: { 'If-None-Match': tag } })).toMatchObject({
    status: 304,
    text: '',
  })
})

test('a list of runs carries no payloads', async () => {
  const payload = { name: 'x'.repeat(1_000_000) }
  for (let run = 0; run < 3; run++)
    await ask('POST', '/api/runs', { token: tokens.enqueue, body: { task: 'hello', payload } })
  const { text } = await ask('GET', '/api/runs?limit=500', { token })
  expect(text.length).toBeLessThan(100_000)
})
