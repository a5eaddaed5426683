/** While the database is unreachable: viewers learn since when and why, and the same stream resumes afterwards. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { openEvents, type Frame } from '@q/server/client'
import { serverScene } from './scene.ts'

/** A way to the database that can be closed. */
async function door(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isOpen = true
  const proxy = createServer((socket) => {
    if (!isOpen) return void socket.destroy()
    const upstream = createConnection({ host: hostname, port: Number(port) })
    for (const end of [socket, upstream]) sockets.add(end.on('error', () => {}))
    socket.pipe(upstream).pipe(socket)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(databaseUrl)
  url.port = String((proxy.address() as AddressInfo).port)
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: url.href,
    close() {
      isOpen = false
      cut()
    },
    open: () => void (isOpen = true),
    end() {
      cut()
      proxy.close()
    },
  }
}

test('an outage is reported with its reason, reads answer 503, and the same stream resumes after it', async () => {
  let way: Awaited<ReturnType<typeof door>> | undefined
  const scene = await serverScene({}, async (databaseUrl) => {
    way = await door(databaseUrl)
    return { databaseUrl: way.url }
  })
  onTestFinished(async () => {
    way?.open()
    await scene.close()
    way?.end()
  })
  const token = scene.tokens.read
  const seen: Frame[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const headers = () => ({ Authorization: `Bearer ${token}` })
  void (async () => {
    for await (const frame of openEvents({
      base: scene.base,
      headers,
      query: { topics: ['nodes'] },
      signal: stop.signal,
    }))
      seen.push(frame)
  })().catch(() => {})
  await expect.poll(() => seen.map(({ event }) => event)).toContain('nodes')
  way?.close()
  await expect
    .poll(() => seen.find(({ event }) => event === 'old')?.data)
    .toMatchObject({
      topic: 'nodes',
      code: expect.stringMatching(/^DATABASE_/),
      why: expect.any(String),
    })
  const refused = await scene.ask('GET', '/api/nodes', { token })
  expect(refused).toMatchObject({
    status: 503,
    data: { code: expect.stringMatching(/^DATABASE_/), fix: expect.any(String) },
  })
  expect((await scene.ask('GET', '/healthz')).status).toBe(200)
  const before = seen.length
  way?.open()
  await expect.poll(() => seen.slice(before)).toMatchObject([{ event: 'nodes', data: { snapshot: true } }])
  await expect.poll(async () => (await scene.ask('GET', '/api/nodes', { token })).status).toBe(200)
})
