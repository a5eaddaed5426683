/** Attacks on dashboards of other systems, each as a request with the exact answer. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { attacks } from './attacks.ts'
import { rawBytes, rawRequest } from './raw-request.ts'
import { serverScene } from './scene.ts'

const scene = await serverScene({}, { headersMs: 400 })
afterAll(() => scene.close())
const { server, tokens } = scene
const own = `http://127.0.0.1:${server.port}`

async function login(token: string) {
  const { status, headers, data } = await scene.ask('POST', '/api/session', { body: { token } })
  expect(status).toBe(200)
  const setCookie = headers.get('Set-Cookie') ?? ''
  return { cookie: setCookie.split(';')[0] ?? '', proof: String(data.proof), setCookie }
}
const runIds = () => scene.db.selectFrom('q.task_run').select('id').execute()
const { cookie, proof } = await login(tokens.owner)
const page = { Cookie: cookie, 'Q-Proof': proof }
const bearer = { Authorization: `Bearer ${tokens.owner}` }
const json = { 'Content-Type': 'application/json' }
const run = JSON.stringify({ task: 'hello' })

test.each(attacks({ port: server.port, token: tokens.owner, page }))(
  '%s is refused, and enqueues nothing',
  async (_, request, status, code) => {
    const before = await runIds()
    const answer = await rawRequest(server.port, request)
    expect({ status: answer.status, code: answer.code }).toEqual({ status, code })
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.text).not.toContain(tokens.owner)
    expect(await runIds()).toEqual(before)
    expect(scene.faults).toEqual([])
  },
)

test('the page of this server may do what the form of another site may not', async () => {
  const answer = await rawRequest(server.port, {
    method: 'POST',
    path: '/api/runs',
    headers: { ...page, ...json, Origin: own, 'Sec-Fetch-Site': 'same-origin' },
    body: run,
  })
  expect(answer.status).toBe(201)
})

test('a session is over when its token is replaced, or when it is ended', async () => {
  const first = await login(tokens.owner)
  const ask = ({ cookie: Cookie, proof: Proof }: typeof first, method = 'GET') =>
    rawRequest(server.port, { method, path: '/api/session', headers: { Cookie, 'Q-Proof': Proof } })
  expect((await ask(first)).status).toBe(200)
  expect((await ask(first, 'DELETE')).status).toBe(200)
  expect((await ask(first)).status).toBe(401)
  const second = await login(tokens.owner)
  scene.writeToken('q_another_token_of_the_owner')
  await expect.poll(async () => (await ask(second)).status).toBe(401)
  expect((await rawRequest(server.port, { path: '/api/tasks', headers: bearer })).status).toBe(401)
  scene.writeToken(tokens.owner)
  await expect
    .poll(async () => (await rawRequest(server.port, { path: '/api/tasks', headers: bearer })).status)
    .toBe(200)
})

test('the cookie cannot be read by scripts, and is not sent by other sites', async () => {
  const { setCookie } = await login(tokens.read)
  expect(setCookie).toMatch(new RegExp(`^q_${server.port}=[^;]+; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`))
})

test('a client that is slow to send its headers is cut off with 408, a giant header is refused with 431', async () => {
  expect(await rawBytes(server.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow:')).toContain(' 408 ')
  expect(await rawBytes(server.port, `GET /healthz HTTP/1.1\r\nX-Big: ${'a'.repeat(70_000)}\r\n\r\n`)).toContain(
    ' 431 ',
  )
  expect((await rawRequest(server.port, { path: '/healthz' })).status).toBe(200)
})

test.each(['OPTIONS', 'PROPFIND', 'PUT'])('%s is answered with the methods of the route', async (method) => {
  const answer = await rawRequest(server.port, { method, path: '/api/runs', headers: bearer })
  expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } })
})

test('a value that does not fit a pattern has one problem', async () => {
  const { text } = await rawRequest(server.port, { path: '/api/runs/1/logs?after=x', headers: bearer })
  const { errors } = JSON.parse(text) as { readonly errors: readonly { readonly at: string }[] }
  expect(errors.map(({ at }) => at)).toEqual(['after'])
})

test('every answer forbids frames, foreign scripts and sniffing', async () => {
  for (const path of ['/', '/healthz', '/api/tasks', '/runs/5', '/nothing.js']) {
    const { headers } = await rawRequest(server.port, { path })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
  }
})

test('after ten wrong tokens of one address the next is refused with 429, a right one too', async () => {
  const { ask, tokens: others, close } = await serverScene()
  onTestFinished(close)
  const wrong = () => ask('POST', '/api/session', { body: { token: 'q_wrong' } })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt++) statuses.push((await wrong()).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])
  expect(await ask('POST', '/api/session', { body: { token: others.owner } })).toMatchObject({ status: 429 })
})
