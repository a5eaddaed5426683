/** A stream lasts only as long as the token or session that opened it. */
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { addNamedToken, removeNamedToken, replaceToken } from '@q/server'
import { openEvents, type Frame } from '@q/server/client'
import { serverScene } from './scene.ts'

let aheadMs = 0
const scene = await serverScene({}, { now: () => Date.now() + aheadMs })
afterAll(() => scene.close())
const { server, tokensFile, tokenFile, base, ask } = scene

beforeEach(() => {
  aheadMs = 0
})

/** Reads a stream until it ends; `next` is its next frame. */
function follow(headers: Readonly<Record<string, string>>) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const events = openEvents({ base, headers: () => headers, query: { topics: ['nodes'] }, signal: stop.signal })
  const seen: Frame['event'][] = []
  const ended = (async () => {
    for await (const { event } of events) seen.push(event)
    return seen.at(-1)
  })()
  ended.catch(() => {})
  return { seen, ended }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

async function login() {
  const token = replaceToken(tokenFile)
  await expect.poll(async () => (await ask('GET', '/api/session', { token })).status).toBe(200)
  const { headers, data } = await ask('POST', '/api/session', { body: { token } })
  return { Cookie: (headers.get('Set-Cookie') ?? '').split(';')[0] ?? '', 'Q-Proof': String(data.proof) }
}

/** The stream ends by itself, says so, and is not opened again. */
async function expectEnd({ ended }: ReturnType<typeof follow>, headers: Readonly<Record<string, string>>) {
  expect(await ended).toBe('bye')
  await expect.poll(() => server.live).toMatchObject({ streams: 0, topics: 0 })
  expect(await ask('GET', '/api/events?topics=nodes', { headers })).toMatchObject({ status: 401 })
}

test('the stream of a revoked token ends, and those of others continue', async () => {
  const [kept, revoked] = ['kept', 'revoked'].map((name) => bearer(addNamedToken(tokensFile, { name, scope: 'read' })))
  await expect.poll(async () => (await ask('GET', '/api/session', { headers: revoked! })).status).toBe(200)
  const [first, second] = [follow(kept!), follow(revoked!)]
  await expect.poll(() => [first.seen, second.seen].every((seen) => seen.includes('nodes'))).toBe(true)
  removeNamedToken(tokensFile, 'revoked')
  expect(await second.ended).toBe('bye')
  expect(server.live).toMatchObject({ streams: 1, topics: 1 })
  removeNamedToken(tokensFile, 'kept')
  await expectEnd(first, kept!)
})

test('the stream of a session ends when its token is replaced', async () => {
  const headers = await login()
  const stream = follow(headers)
  await expect.poll(() => stream.seen).toContain('nodes')
  replaceToken(tokenFile)
  await expectEnd(stream, headers)
})

test('the stream of a session ends when the session does', async () => {
  const headers = await login()
  const stream = follow(headers)
  await expect.poll(() => stream.seen).toContain('nodes')
  expect((await ask('DELETE', '/api/session', { headers })).status).toBe(200)
  await expectEnd(stream, headers)
})

test('the stream of a session ends when the session expires', async () => {
  const headers = await login()
  const stream = follow(headers)
  await expect.poll(() => stream.seen).toContain('nodes')
  aheadMs = 12 * 3_600_000 + 1
  await expectEnd(stream, headers)
})
