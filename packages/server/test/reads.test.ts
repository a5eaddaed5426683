/** Every GET of the table, on a database with a little of everything: answered, and as its schema says. */
import { afterAll, expect, test } from 'vitest'
import { apiRoutes } from '@q/server'
import { serverScene } from './scene.ts'
import { seed } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { ask, tokens, store } = scene
const ids = await seed(store, scene.database.url)
const operation = await store.requestOperation({ kind: 'retry', filter: { task: 'hello' }, by: 'test' })
const token = tokens.read

/** A path for each GET; a route that is not here fails the test. */
const paths: Readonly<Record<string, readonly string[]>> = {
  'GET /api/session': ['/api/session'],
  'GET /api/overview': ['/api/overview'],
  'GET /api/attention': ['/api/attention'],
  'GET /api/series': ['rate', 'wait', 'duration', 'oldest', 'ready'].map(
    (metric) => `/api/series?metric=${metric}&points=10`,
  ),
  'GET /api/queues': ['/api/queues'],
  'GET /api/queues/{queue}': ['/api/queues/default'],
  'GET /api/nodes': ['/api/nodes', '/api/nodes?stopped=true'],
  'GET /api/nodes/{id}': ['/api/nodes/aaa', '/api/nodes/node-bbb'],
  'GET /api/nodes/{id}/heartbeat': ['/api/nodes/node-aaa/heartbeat'],
  'GET /api/lanes': ['/api/lanes'],
  'GET /api/runs': [
    '/api/runs',
    '/api/runs?status=failed,done&task=hello&queue=default&node=node-aaa&limit=1',
    ...['newest', 'running', 'failed', 'waiting', 'review', 'stopping'].map((view) => `/api/runs?view=${view}`),
    '/api/runs?payload=name~ended&look=1000',
    '/api/runs?code=TASK_ERROR&since=2020-01-01T00:00:00.000Z',
  ],
  'GET /api/runs/count': ['/api/runs/count?status=failed&max=10'],
  'GET /api/runs/{id}': Object.values(ids)
    .slice(0, 5)
    .map((id) => `/api/runs/${id}`),
  'GET /api/runs/{id}/payload': [`/api/runs/${ids.endedId}/payload`],
  'GET /api/runs/{id}/result': [`/api/runs/${ids.endedId}/result`, `/api/runs/${ids.heldId}/result`],
  'GET /api/runs/{id}/why': [`/api/runs/${ids.waitingId}/why`, `/api/runs/${ids.endedId}/why`],
  'GET /api/runs/{id}/logs': [`/api/runs/${ids.failedId}/logs`, `/api/runs/${ids.failedId}/logs?after=1.1&limit=5`],
  'GET /api/operations': ['/api/operations'],
  'GET /api/operations/{id}': [`/api/operations/${operation.id}`],
  'GET /api/workflows': ['/api/workflows', '/api/workflows?status=RUNNING&name=build'],
  'GET /api/workflows/{id}': [`/api/workflows/${ids.workflowId}`],
  'GET /api/workflows/{id}/steps': [`/api/workflows/${ids.workflowId}/steps`],
  'GET /api/schedules': ['/api/schedules'],
  'GET /api/schedules/{name}': ['/api/schedules/nightly'],
  'GET /api/errors': ['/api/errors', '/api/errors?muted=false&task=hello'],
  'GET /api/errors/{fingerprint}': [],
  'GET /api/recoveries': ['/api/recoveries', '/api/recoveries?toReview=true'],
  'GET /api/stale': ['/api/stale'],
  'GET /api/destinations': ['/api/destinations'],
  'GET /api/deliveries': ['/api/deliveries', '/api/deliveries?givenUp=true'],
  'GET /api/workers/{workerId}/runs': [],
  'GET /api/tasks': ['/api/tasks'],
  'GET /api/actions': ['/api/actions'],
  'GET /api/events': [],
  'GET /api/openapi.json': ['/api/openapi.json'],
  'GET /metrics': ['/metrics'],
}

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
