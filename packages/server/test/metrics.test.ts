/** Metrics of the cluster, who may read them, and what is left when the database does not answer. */
import { startServer, readHttpSettings } from '@q/server'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createClusterReadings } from '../src/metrics/cluster-readings.ts'
import { parsePrometheus, valueOf } from './prometheus-text.ts'
import { rawRequest } from './raw-request.ts'
import { serverScene } from './scene.ts'

const port = { address: '127.0.0.1', port: 0 }
const scene = await serverScene(
  { metrics: port },
  {
    readMetrics() {
      throw new Error('broken counter')
    },
  },
)
afterAll(() => scene.close())
const { store, tokens, database } = scene

test('metrics need a token with the scope read, and HEAD and GET alone are possible', async () => {
  expect((await scene.ask('GET', '/metrics')).status).toBe(401)
  expect((await scene.ask('GET', '/metrics', { token: tokens.read })).status).toBe(200)
  expect((await scene.ask('POST', '/metrics', { token: tokens.owner, body: {} })).status).toBe(405)
  const foreign = { Authorization: `Bearer ${tokens.read}`, Origin: 'http://evil.example' }
  expect((await scene.ask('GET', '/metrics', { headers: foreign })).status).toBe(403)
})

test('the gauges of queues are those of the newest sample, at every server', async () => {
  await store.enqueueTaskRuns([
    { task: 'mail', lane: await lane('mail'), payload: 'secret-payload', group: 'secret-group' },
    { task: 'mail', lane: await lane('mail'), payload: 2, delayMs: 60_000 },
  ])
  await store.pauseQueue('default', 'ada')
  await store.sampleQueues()
  await store.enqueueTaskRuns([{ task: 'mail', lane: await lane('mail'), payload: 3 }])
  const texts = await Promise.all(
    [newServer(), newServer()].map(async (server) => {
      const headers = { Authorization: `Bearer ${tokens.owner}` }
      return (await fetch(`http://127.0.0.1:${(await server).port}/metrics`, { headers })).text()
    }),
  )
  for (const text of texts) {
    const families = parsePrometheus(text)
    const of = (name: string, labels: Record<string, string> = {}) => valueOf(families, name, labels)
    expect({
      ready: of('q_queue_ready', { queue: 'default' }),
      waiting: of('q_queue_waiting', { queue: 'default', gate: 'time' }),
      paused: of('q_queue_paused', { queue: 'default' }),
      readable: of('q_cluster_readable'),
      alive: of('q_nodes', { state: 'alive' }),
      toReview: of('q_runs_to_review'),
      streams: of('q_page_streams'),
    }).toEqual({ ready: 1, waiting: 1, paused: 1, readable: 1, alive: 0, toReview: 0, streams: 0 })
    expect(of('q_sample_age_seconds')).toBeGreaterThan(0)
    expect(text).not.toContain('secret')
  }
})

/** One that has read nothing yet. */
async function newServer() {
  const server = await startServer({
    databaseUrl: database.url,
    settings: { readOnly: false, badge: null, port: 0 },
    tokenFile: scene.tokenFile,
    version: '1',
  })
  onTestFinished(() => server.close())
  return server
}

function lane(task: string): Promise<number> {
  return store.internLane({ queue: 'default', task, requires: [] })
}

test('the port of its own has metrics and probes for any Host, without a token, and nothing else', async () => {
  const at = scene.server.metricsPort ?? 0
  const ask = (path: string, method = 'GET') =>
    rawRequest(at, { method, path, headers: { Host: 'pod-7.example:1' } }).then(({ status, text }) => ({
      status,
      text,
    }))
  expect(parsePrometheus((await ask('/metrics')).text).has('q_nodes')).toBe(true)
  expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
  expect((await ask('/startupz')).status).toBe(200)
  for (const path of ['/api/runs', '/', '/metrics/', '/healthz/../api/runs', '//metrics'])
    expect({ path, status: (await ask(path)).status }).toEqual({ path, status: 404 })
  expect((await ask('/metrics', 'POST')).status).toBe(405)
})

test('a counter that throws leaves the rest of the scrape, and the fault is reported', async () => {
  const { text } = await scene.ask('GET', '/metrics', { token: tokens.read })
  expect(parsePrometheus(text).has('q_cluster_readable')).toBe(true)
  expect(scene.faults.map(String)).toContain('Error: broken counter')
})

test('many scrapes within ten seconds read the database once; a database that does not answer leaves one gauge', async () => {
  const clock = { nowMs: 0 }
  let reads = 0
  const cluster = createClusterReadings(
    {
      async clusterGauges() {
        reads++
        if (reads > 1) throw new Error('away')
        return store.clusterGauges()
      },
    },
    { nowMs: () => clock.nowMs },
  )
  const [first] = await Promise.all([cluster(), cluster()])
  expect(await cluster()).toEqual(first)
  expect(reads).toBe(1)
  clock.nowMs = 10_001
  expect(await cluster()).toEqual({ q_cluster_readable: [{ value: 0 }] })
})

test('a scrape does not wait for a database that hangs', async () => {
  const cluster = createClusterReadings({ clusterGauges: () => new Promise(() => {}) }, { waitMsMax: 1 })
  expect(await cluster()).toEqual({ q_cluster_readable: [{ value: 0 }] })
})

test.each(['9464', 'localhost', '127.0.0.1:99999', '::1:9464', 'http://127.0.0.1:9464'])(
  '%s is not an address for metrics',
  (text) => {
    expect(() => readHttpSettings({ Q_METRICS_ADDRESS: text })).toThrow(/Q_METRICS_ADDRESS/)
  },
)
