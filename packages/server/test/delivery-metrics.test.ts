/** What a scrape says about a destination is what its receiver got, and what waits in the database. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { queue } from '@q/client'
import { createMetricsObserver, readConfig, startRunner } from '@q/runner'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../src/metrics/metrics.ts'
import { parsePrometheus, valueOf } from './prometheus-text.ts'
import { serverScene } from './scene.ts'
import type * as tasks from './tasks/scraped.ts'

const scene = await serverScene()
const observer = createMetricsObserver('1')
const q = queue<typeof tasks>(scene.database.url)
afterAll(async () => {
  observer.close()
  await q.close()
  await scene.close()
})

/** Accepts reports about runs that succeeded, rejects the others, and asks for the first one a second time. */
async function receiver(): Promise<{ readonly url: string; readonly answers: number[] }> {
  const answers: number[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { payload } = (await json(request)) as { payload: { status: string } }
    answers.push(answers.length === 0 ? 503 : payload.status === 'SUCCEEDED' ? 204 : 400)
    response.writeHead(answers.at(-1) ?? 500, { 'Retry-After': '0' }).end()
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, answers }
}

/** By a server that has read nothing yet. */
async function readings() {
  const { text } = await createMetrics({
    reads: scene.store,
    replica: () => observer.read(undefined),
    onFault: () => {},
  }).scrape()
  const families = parsePrometheus(text)
  const sent = (outcome: string) => valueOf(families, 'q_deliveries_total', { destination: 'hook', outcome }) ?? 0
  const gauge = (name: string) => valueOf(families, name, { destination: 'hook' })
  return {
    sent: { delivered: sent('delivered'), failed: sent('failed'), 'given-up': sent('given-up') },
    waiting: gauge('q_deliveries_waiting'),
    oldestS: gauge('q_deliveries_oldest_seconds'),
    givenUp: gauge('q_deliveries_given_up'),
    paused: gauge('q_destination_paused'),
  }
}

test('reports are counted by destination and outcome; those that wait have a count and an age', async () => {
  const { url, answers } = await receiver()
  const runner = await startRunner({
    databaseUrl: scene.database.url,
    config: readConfig({ Q_THREADS: '2' }),
    version: '1',
    taskModules: [new URL('./tasks/scraped.ts', import.meta.url).href],
    observe: observer.observe,
    env: (variable) => (variable === 'HOOK_SECRET' ? 'a secret of the test' : undefined),
  })
  onTestFinished(() => Promise.race([runner.drain(), runner.drain()]))
  const settings = { url, secretVariable: 'HOOK_SECRET' }
  await scene.store.putDestination({ name: 'hook', kind: 'webhook', reports: ['run-ended'], settings })
  await q.enqueueMany([1, 2, 3].map((n) => ['double', { n }] as const))
  await q.enqueue('breaks', {})
  // The report that failed is due again in seconds.
  await expect.poll(readings, { timeout: 60_000, interval: 200 }).toEqual({
    sent: { delivered: 3, failed: 1, 'given-up': 1 },
    waiting: 0,
    oldestS: 0,
    givenUp: 1,
    paused: 0,
  })
  expect(answers.toSorted((a, b) => a - b)).toEqual([204, 204, 204, 400, 503])

  await scene.store.pauseDestination('hook', { by: 'test' })
  const late = await q.enqueueMany([4, 5].map((n) => ['double', { n }] as const))
  await Promise.all(late.map((run) => run.result()))
  const paused = await readings()
  expect(paused).toMatchObject({ waiting: 2, givenUp: 1, paused: 1 })
  expect(paused.oldestS).toBeGreaterThan(0)
})
