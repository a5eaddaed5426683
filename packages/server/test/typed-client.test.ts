/** The types of the client, judged by the compiler, and the requests that it makes. */
import { expect, expectTypeOf, test } from 'vitest'
import { createApi, ApiProblem, type Node, type RunSummaryPage } from '@q/server/client'

function recording(status: number, body: unknown, type = 'application/json') {
  const seen: { url: string; init: RequestInit }[] = []
  const fetch = (url: unknown, init: RequestInit = {}) => {
    seen.push({ url: String(url), init })
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': type } }))
  }
  return { seen, fetch: fetch as typeof globalThis.fetch }
}

test('a call fills the path, repeats members of a list and sends the body as JSON', async () => {
  const { seen, fetch } = recording(200, { runs: [] })
  const api = createApi({ base: 'http://127.0.0.1:7780', fetch, headers: () => ({ 'Q-Proof': 'p' }) })
  const page = await api('GET /api/runs', { query: { status: ['FAILED', 'done'], limit: 5 } })
  expectTypeOf(page).toEqualTypeOf<RunSummaryPage>()
  const node = await api('POST /api/nodes/{id}/drain', { params: { id: 'eu 1/ä' }, body: { deadlineMs: 5 } })
  expectTypeOf(node).toEqualTypeOf<Node>()
  expect(seen.map(({ url }) => url)).toEqual([
    'http://127.0.0.1:7780/api/runs?status=FAILED&status=done&limit=5',
    'http://127.0.0.1:7780/api/nodes/eu%201%2F%C3%A4/drain',
  ])
  expect(seen[1]?.init).toMatchObject({
    method: 'POST',
    body: '{"deadlineMs":5}',
    headers: { 'Q-Proof': 'p', 'Content-Type': 'application/json' },
  })
})

test('a refusal rejects with the problem that the server sent', async () => {
  const { fetch } = recording(
    404,
    { code: 'NODE_NOT_FOUND', title: 'There is no such node.' },
    'application/problem+json',
  )
  const asked = createApi({ fetch })('GET /api/nodes/{id}', { params: { id: 'x' } })
  await expect(asked).rejects.toThrow(ApiProblem)
  await expect(asked).rejects.toMatchObject({ status: 404, problem: { code: 'NODE_NOT_FOUND' } })
})

test('the compiler refuses an unknown route, a missing member of the path and a wrong query', () => {
  const api = createApi({ fetch: recording(200, {}).fetch })
  // @ts-expect-error there is no such route
  const unknown = () => api('GET /api/nothing')
  // @ts-expect-error the id is missing
  const missing = () => api('GET /api/nodes/{id}')
  // @ts-expect-error limit is a number
  const wrong = () => api('GET /api/runs', { query: { limit: 'many' } })
  expect([unknown, missing, wrong]).toHaveLength(3)
})
