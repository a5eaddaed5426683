/** The stream behind a proxy that buffers and compresses answers, unless they forbid it. */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openEvents, type Frame } from '@q/server/client'
import { serverScene } from './scene.ts'
import { registration } from './seed.ts'

const scene = await serverScene({ origin: 'http://proxy.test' })
afterAll(() => scene.close())
const { server, store, tokens } = scene

/** Which headers of an answer the proxy obeys; it buffers until the end, or compresses, what no header protects. */
async function proxy(obeyed: readonly ('x-accel-buffering' | 'cache-control')[]) {
  const proxying = createServer((incoming, outgoing) => pass(incoming, outgoing))
  await once(proxying.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    proxying.closeAllConnections()
    await new Promise((closed) => proxying.close(closed))
  })
  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = 'GET', url = '/' } = incoming
    const headers = { ...incoming.headers, host: 'proxy.test' }
    const forwarded = request({ host: '127.0.0.1', port: server.port, method, path: url, headers }, (answer) => {
      const given = (name: (typeof obeyed)[number]) => (obeyed.includes(name) ? String(answer.headers[name]) : '')
      const mayBuffer = given('x-accel-buffering') !== 'no'
      const mayCompress = !given('cache-control').includes('no-transform')
      outgoing.writeHead(answer.statusCode ?? 502, {
        ...answer.headers,
        ...(mayCompress ? { 'content-encoding': 'gzip' } : {}),
      })
      outgoing.flushHeaders()
      const sent = mayCompress ? answer.pipe(createGzip()) : answer
      if (mayBuffer) sent.resume().once('end', () => outgoing.end())
      else sent.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  }
  return `http://127.0.0.1:${(proxying.address() as AddressInfo).port}`
}

async function watch(base: string) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const headers = () => ({ Authorization: `Bearer ${tokens.read}` })
  const seen: Frame[] = []
  const events = openEvents({ base, headers, query: { topics: ['nodes'] }, signal: stop.signal })
  void (async () => {
    for await (const frame of events) seen.push(frame)
  })().catch(() => {})
  await expect.poll(() => server.live.streams).toBeGreaterThan(0)
  return seen
}

test('a proxy that obeys the headers of the stream passes each frame on at once', async () => {
  const seen = await watch(await proxy(['x-accel-buffering', 'cache-control']))
  await expect.poll(() => seen.map(({ event }) => event)).toEqual(['hello', 'nodes'])
  await store.registerReplica(registration('new'))
  await expect.poll(() => seen.at(-1)).toMatchObject({ event: 'nodes', data: { changed: [{ id: 'new' }] } })
})

test('a proxy that obeys none of them delivers nothing: the page has to poll', async () => {
  const seen = await watch(await proxy([]))
  await store.registerReplica(registration('other'))
  const direct = await watch(scene.base)
  await expect.poll(() => direct.map(({ event }) => event)).toContain('nodes')
  expect(seen).toEqual([])
})
