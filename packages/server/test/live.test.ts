/** The live stream: one look for all viewers, none without, and nothing left behind by viewers that vanish. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openEvents, type EventsRequest, type Frame } from '@q/server/client'
import { frames } from '../src/api/events.ts'
import { topicSource } from '../src/live/sources.ts'
import { rawRequest } from './raw-request.ts'
import { serverScene } from './scene.ts'
import { registration, seed } from './seed.ts'

const scene = await serverScene()
afterAll(() => scene.close())
const { server, tokens, store, base } = scene
const ids = await seed(store, scene.database.url)

/** Frames as they come; every one must be as its schema says. */
function watch(query: EventsRequest['query'], token = tokens.read) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const seen: Frame[] = []
  const reading = (async () => {
    const headers = () => ({ Authorization: `Bearer ${token}` })
    for await (const frame of openEvents({ base, headers, query, signal: stop.signal })) {
      frames[frame.event].parse(frame.data)
      seen.push(frame)
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  const dataOf = <Name extends Frame['event']>(event: Name) =>
    seen.filter((frame) => frame.event === event).map((frame) => frame.data as Extract<Frame, { event: Name }>['data'])
  return { seen, dataOf, reading, stop: () => stop.abort() }
}

const isQuiet = async () =>
  await expect
    .poll(() => ({ streams: server.live.streams, topics: server.live.topics }))
    .toEqual({ streams: 0, topics: 0 })

test('a stream begins with hello and a whole frame of each topic', async () => {
  const view = watch({
    topics: ['nodes', 'overview', 'queues', 'attention'],
    runs: [ids.heldId],
    workflow: [ids.workflowId],
  })
  await expect
    .poll(() => new Set(view.seen.map(({ event }) => event)))
    .toEqual(new Set(['hello', 'nodes', 'overview', 'queues', 'attention', 'run', 'workflow']))
  expect(view.seen[0]).toMatchObject({ event: 'hello', data: { scope: 'read', version: '1.2.3' } })
  expect(view.dataOf('nodes')[0]).toMatchObject({ snapshot: true })
  expect(view.dataOf('run')[0]).toMatchObject({ id: ids.heldId, status: 'RUNNING' })
  view.stop()
  await isQuiet()
})

test('a frame carries the nodes that changed and no others', async () => {
  const view = watch({ topics: ['nodes'] })
  await expect.poll(() => view.dataOf('nodes').length).toBe(1)
  await store.registerReplica(registration('new'))
  await expect
    .poll(() => view.dataOf('nodes').slice(1))
    .toMatchObject([{ snapshot: false, changed: [{ id: 'new' }], gone: [] }])
  await store.retireReplica('new')
  await expect.poll(() => view.dataOf('nodes').at(-1)).toMatchObject({ changed: [], gone: ['new'] })
})

test('the server looks right after an action', async () => {
  const view = watch({ topics: ['nodes'] })
  await expect.poll(() => view.dataOf('nodes').length).toBe(1)
  await scene.ask('POST', '/api/nodes/bbb/drain', { token: tokens.admin })
  await expect.poll(() => view.dataOf('nodes').at(-1)?.changed).toMatchObject([{ id: 'bbb', state: 'draining' }])
  await scene.ask('DELETE', '/api/nodes/bbb/drain', { token: tokens.admin })
})

test('a log continues after the last line the viewer has', async () => {
  const [lease] = await store.claimAvailableTaskRuns({ replicaId: 'aaa', tasks: ['hello'], queues: [], limit: 1 })
  const line = (lineNo: number) => ({ lease: lease!, lineNo, level: 30, line: `line ${lineNo}`, ageMs: 0 })
  await store.appendTaskLogs([line(1), line(2)])
  const view = watch({ log: [`${lease!.runId}.${lease!.fence}.1`] })
  await expect
    .poll(() => view.dataOf('log'))
    .toMatchObject([
      { runId: lease!.runId, after: { fence: lease!.fence, lineNo: 1 }, lines: [{ line: 'line 2' }], dropped: false },
    ])
  await store.appendTaskLogs([line(3)])
  await expect
    .poll(() => view.dataOf('log').at(-1))
    .toMatchObject({ after: { lineNo: 2 }, lines: [{ line: 'line 3' }], next: { lineNo: 3 } })
})

test('one stream follows several runs, logs, workflows and operations, each on its own', async () => {
  const [first, second] = [await enqueueAndClaim(), await enqueueAndClaim()]
  const line = (lease: typeof first, text: string) => ({ lease, lineNo: 1, level: 30, line: text, ageMs: 0 })
  await store.appendTaskLogs([line(first, 'of the first'), line(second, 'of the second')])
  const operation = async (task: string) =>
    (await store.requestOperation({ kind: 'retry', filter: { task }, by: 'test' })).id
  const [one, other] = [await operation('one'), await operation('other')]
  const view = watch({
    runs: [first.runId, second.runId],
    log: [first.runId, second.runId],
    workflow: [ids.workflowId],
    operation: [one, other],
  })
  const idsOf = (event: 'operation' | 'run') => new Set(view.dataOf(event).map(({ id }) => id))
  const logs = () => view.dataOf('log').map(({ runId, lines }) => [runId, lines.map(({ line: text }) => text)])
  await expect.poll(() => idsOf('operation')).toEqual(new Set([one, other]))
  await expect
    .poll(() => new Set(logs()))
    .toEqual(
      new Set([
        [first.runId, ['of the first']],
        [second.runId, ['of the second']],
      ]),
    )
  await expect.poll(() => idsOf('run')).toEqual(new Set([first.runId, second.runId]))
  await store.appendTaskLogs([{ ...line(second, 'more of the second'), lineNo: 2 }])
  await expect.poll(() => logs().at(-1)).toEqual([second.runId, ['more of the second']])
  expect(logs()).toHaveLength(3)
})

test('a viewer that knows fewer lines than the first one learns where it has to fetch', async () => {
  const { runId, fence } = await enqueueAndClaim()
  const lines = [1, 2].map((lineNo) => ({ lease: { runId, fence }, lineNo, level: 30, line: 'known', ageMs: 0 }))
  await store.appendTaskLogs(lines)
  const first = watch({ log: [`${runId}.${fence}.2`] })
  await expect.poll(() => first.dataOf('log')).toMatchObject([{ after: { fence, lineNo: 2 }, lines: [] }])
  const second = watch({ log: [runId] })
  await expect.poll(() => second.dataOf('log')).toMatchObject([{ after: { fence, lineNo: 2 }, lines: [] }])
})

async function enqueueAndClaim() {
  await scene.ask('POST', '/api/runs', { token: tokens.enqueue, body: { task: 'hello' } })
  const [lease] = await store.claimAvailableTaskRuns({ replicaId: 'bbb', tasks: ['hello'], queues: [], limit: 1 })
  return lease!
}

test('streams beyond 20 of a token are refused with 429 and a time to wait', async () => {
  const views = Array.from({ length: 20 }, () => watch({ topics: ['overview'] }, tokens.enqueue))
  await expect.poll(() => server.live.streams).toBe(20)
  expect(server.live.topics).toBe(1)
  const refused = await scene.ask('GET', '/api/events?topics=overview', { token: tokens.enqueue })
  expect(refused).toMatchObject({ status: 429, data: { code: 'TOO_MANY_REQUESTS' } })
  expect(refused.headers.get('Retry-After')).toBe('30')
  for (const view of views) view.stop()
  await isQuiet()
})

test('200 viewers that vanish leave no stream and no look behind', async () => {
  const readers = [tokens.owner, tokens.read, tokens.enqueue, tokens.admin]
  const open = async (place: number): Promise<Socket> => {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    const head = `GET /api/events?topics=nodes,overview&runs=${ids.heldId} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`
    socket.write(`${head}Authorization: Bearer ${readers[place % readers.length]}\r\n\r\n`)
    await once(socket, 'data')
    return socket
  }
  for (let round = 0; round < 4; round++) {
    const sockets = await Promise.all(Array.from({ length: 50 }, (_, place) => open(place)))
    expect(server.live.streams).toBe(50)
    for (const socket of sockets) socket.destroy()
    await isQuiet()
  }
  expect(scene.faults).toEqual([])
})

test('streams that wait behind another one of their connection end with it', async () => {
  const socket = connect(server.port, '127.0.0.1')
  const head = `GET /api/events?topics=nodes HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`
  socket.write(`${head}Authorization: Bearer ${tokens.read}\r\n\r\n`.repeat(2))
  await expect.poll(() => server.live.streams).toBe(2)
  socket.destroy()
  await isQuiet()
})

test('HEAD answers the headers of a stream, and opens none', async () => {
  const headers = { Authorization: `Bearer ${tokens.read}` }
  const answer = await rawRequest(server.port, { method: 'HEAD', path: '/api/events?topics=nodes', headers })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  expect(server.live).toMatchObject({ streams: 0, topics: 0 })
})

test('a whole frame says when this server read it last, also when nothing has changed since', async () => {
  const quiet = await serverScene()
  onTestFinished(quiet.close)
  const source = topicSource('queues', quiet.store)
  const readAt = () => {
    const data = source.framesSince(0, { runs: [] })[0]!.data as { at: Date }
    return data.at.getTime()
  }
  expect(await source.look(1, [])).toBe(true)
  const first = readAt()
  await expect.poll(() => Date.now()).toBeGreaterThan(first)
  expect(await source.look(2, [])).toBe(false)
  expect(readAt()).toBeGreaterThan(first)
})
