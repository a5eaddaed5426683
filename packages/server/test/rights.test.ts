/** Who may do what: every route of the OpenAPI document, asked with every scope. */
import { afterAll, expect, test } from 'vitest'
import { serverScene } from './scene.ts'

const scene = await serverScene()
const readOnly = await serverScene({ readOnly: true })
const limited = await serverScene({}, { actionsAtOnce: 20 })
afterAll(() => Promise.all([scene.close(), readOnly.close(), limited.close()]))
const { tokens } = scene

interface Operation {
  readonly 'x-scope': 'open' | 'read' | 'enqueue' | 'work' | 'admin'
  readonly 'x-action'?: string
}
const { data: document } = await scene.ask('GET', '/api/openapi.json', { token: tokens.read })
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)
/** The scopes that may call a route, by the scope that it needs. */
const sufficient = {
  read: ['read', 'enqueue', 'admin'],
  enqueue: ['enqueue', 'admin'],
  work: ['work', 'admin'],
  admin: ['admin'],
} as const

/** Whether the scope was enough: what is asked for need not exist, nor make sense. */
async function isLetIn(method: string, path: string, token: string | undefined): Promise<boolean> {
  const address = path.replaceAll(/\{\w+\}/g, '1')
  const body = method === 'GET' ? undefined : {}
  if (path === '/api/events') {
    const refused = await scene.ask(method, `${address}?unknown=1`, token === undefined ? {} : { token })
    return refused.data.code === 'PARAMETER_INVALID'
  }
  const { status, data } = await scene.ask(method, address, { ...(token && { token }), ...(body && { body }) })
  if (status === 429) throw new Error('The limit of the test was reached.')
  return !(status === 401 || (status === 403 && data?.code === 'SCOPE_TOO_SMALL'))
}

const guarded = operations.filter(({ operation }) => operation['x-scope'] !== 'open')

test('only a login needs no token', () => {
  const open = operations.filter((one) => !guarded.includes(one))
  expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /api/session'])
})

test.each(guarded)('$method $path', async ({ method, path, operation }) => {
  const needed = operation['x-scope']
  if (needed === 'open') return
  for (const scope of ['read', 'enqueue', 'work', 'admin'] as const) {
    const expected = (sufficient[needed] as readonly string[]).includes(scope)
    expect({ scope, isLetIn: await isLetIn(method, path, tokens[scope]) }).toEqual({ scope, isLetIn: expected })
  }
  expect(await isLetIn(method, path, undefined)).toBe(false)
})

test('every route that changes something is named in the audit, except those of workers, and every other one only reads', () => {
  for (const { method, path, operation } of operations) {
    const changes = method !== 'GET' && path !== '/api/session' && operation['x-scope'] !== 'work'
    expect({ path, named: operation['x-action'] !== undefined }).toEqual({ path, named: changes })
  }
})

test('a server that only reads refuses every action, with every right', async () => {
  for (const { method, path, operation } of operations) {
    const changes = operation['x-action'] !== undefined || (operation['x-scope'] === 'work' && method !== 'GET')
    if (!changes) continue
    const token = readOnly.tokens.owner
    const answer = await readOnly.ask(method, path.replaceAll(/\{\w+\}/g, '1'), { token, body: {} })
    expect(answer).toMatchObject({ status: 403, data: { code: 'SERVER_READ_ONLY' } })
  }
  expect(await readOnly.store.listActions({})).toMatchObject({ items: [] })
})

test('a token may change 20 things at once, then waits', async () => {
  const change = () => limited.ask('DELETE', '/api/queues/x/pause', { token: limited.tokens.owner })
  const answers = await Promise.all(Array.from({ length: 60 }, change))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.headers.get('Retry-After')).toBe('1')
})
