/** A replica with real threads, scraped while it works: what it says must be what happened. */
import { readFile } from 'node:fs/promises'
import { queue } from '@q/client'
import { createMetricsObserver, readConfig, startRunner, type RunnerEvent } from '@q/runner'
import { metricTable } from '@q/server'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../src/metrics/metrics.ts'
import { parsePrometheus, valueOf } from './prometheus-text.ts'
import { serverScene } from './scene.ts'
import type * as tasks from './tasks/scraped.ts'

let observer = createMetricsObserver('1.2.3')
let figures: Parameters<typeof observer.read>[0]
const scene = await serverScene({}, { readMetrics: () => observer.read(figures) })
const q = queue<typeof tasks>(scene.database.url)
beforeEach(() => {
  observer.close()
  observer = createMetricsObserver('1.2.3')
  figures = undefined
})
afterAll(async () => {
  observer.close()
  await q.close()
  await scene.close()
})

async function replica(observe: (event: RunnerEvent) => void = observer.observe) {
  const runner = await startRunner({
    databaseUrl: scene.database.url,
    config: readConfig({ Q_THREADS: '2' }),
    version: '1.2.3',
    taskModules: [new URL('./tasks/scraped.ts', import.meta.url).href],
    observe,
  })
  onTestFinished(() => Promise.race([runner.drain(), runner.drain()]))
  return runner
}

async function scrape() {
  const { status, headers, text } = await scene.ask('GET', '/metrics', { token: scene.tokens.read })
  expect(status).toBe(200)
  expect(headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parsePrometheus(text)
}

test('counters equal what was executed, never fall while runs are executed, and every metric is in the table', async () => {
  const runner = await replica()
  const handles = [
    ...(await q.enqueueMany(Array.from({ length: 300 }, (_, n) => ['double', { n }] as const))),
    ...(await q.enqueueMany(Array.from({ length: 20 }, () => ['breaks', {}] as const))),
    ...(await q.enqueueMany(Array.from({ length: 10 }, () => ['second', {}] as const))),
  ]
  let last = 0
  let ended = 0
  const all = Promise.allSettled(handles.map((handle) => handle.result().finally(() => ended++)))
  while (ended < handles.length) {
    figures = runner.stats()
    const started = valueOf(await scrape(), 'q_runs_started_total', { queue: 'default', task: 'double' }) ?? 0
    expect(started).toBeGreaterThanOrEqual(last)
    last = started
  }
  await all
  await runner.drain()
  await scene.store.sampleQueues()
  figures = runner.stats()
  const families = await scrape()
  const runs = (name: string, labels: Record<string, string>) => valueOf(families, name, labels)
  const double = { queue: 'default', task: 'double' }
  expect({
    started: runs('q_runs_started_total', double),
    succeeded: runs('q_runs_ended_total', { ...double, outcome: 'succeeded' }),
    timed: runs('q_run_duration_seconds_count', double),
    failed: runs('q_runs_ended_total', { queue: 'reports', task: 'breaks', outcome: 'failed' }),
    errors: runs('q_run_errors_total', { code: 'TASK_ERROR' }),
    retried: runs('q_runs_ended_total', { queue: 'default', task: 'second', outcome: 'retried' }),
    again: runs('q_runs_ended_total', { queue: 'default', task: 'second', outcome: 'succeeded' }),
    waited: runs('q_run_wait_seconds_count', { queue: 'default' }),
    draining: runs('q_draining', {}),
  }).toEqual({
    started: 300,
    succeeded: 300,
    timed: 300,
    failed: 20,
    errors: 30,
    retried: 10,
    again: 10,
    waited: 310,
    draining: 1,
  })
  expect(runs('q_claimed_runs_total', {})).toBeGreaterThanOrEqual(340)
  expect([...families.keys()].toSorted()).toEqual(Object.keys(metricTable).toSorted())
  for (const [name, { type, samples }] of families) {
    const { labels = [], type: kind, help } = metricTable[name] ?? {}
    expect({ name, type, help: families.get(name)?.help }).toEqual({ name, type: kind, help })
    for (const sample of samples) {
      const named = Object.keys(sample.labels).filter((label) => label !== 'le')
      expect({ name, labels: named.toSorted() }).toEqual({ name, labels: labels.toSorted() })
    }
  }
})

/** Metric names with their label matchers, in the queries of a generated file. */
async function queriedIn(file: string): Promise<{ name: string; matchers: [label: string, value: string][] }[]> {
  const text = await readFile(new URL(`../../../docs/deploy/generated/${file}`, import.meta.url), 'utf8')
  const queries = [...text.matchAll(/"?expr"?: ("(?:[^"\\]|\\.)*")/g)].map(([, query = '']) =>
    String(JSON.parse(query)),
  )
  expect(queries.length).toBeGreaterThan(10)
  return queries.flatMap((query) =>
    [...query.matchAll(/\b(q_\w+|process_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
      name,
      matchers: [...matchers.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
    })),
  )
}

test.each(['prometheus-rules.yaml', 'grafana-dashboard.json'])(
  'every series that %s asks for is in a scrape',
  async (file) => {
    const runner = await replica()
    await (await q.enqueue('breaks', {})).result().catch(() => {})
    const dead = { type: 'runs-recovered', holder: 'n', holderName: 'n', hostname: 'h', runIds: [] } as const
    observer.observe({ ...dead, cause: 'presence', silentMs: 3_000 })
    observer.observe({ ...dead, cause: 'reconciled', silentMs: null })
    observer.observe({ type: 'deliveries-sent', destination: 'dev', reports: 1 })
    await scene.store.putDestination({ name: 'dev', kind: 'log', reports: ['alert'] })
    await scene.store.sampleQueues()
    figures = runner.stats()
    // It has read nothing of the database yet.
    const { text } = await createMetrics({
      reads: scene.store,
      replica: () => observer.read(figures),
      streams: () => 0,
      onFault: () => {},
    }).scrape()
    const families = parsePrometheus(text)
    for (const { name, matchers } of await queriedIn(file)) {
      const samples = families.get(name.replace(/_bucket$/, ''))?.samples ?? []
      const own = matchers.filter(([label]) => label !== 'job')
      const found = samples.some(
        (one) => one.name === name && own.every(([label, value]) => one.labels[label] === value),
      )
      expect({ name, own, found }).toEqual({ name, own, found: true })
    }
  },
)

const hurtful = {
  throws() {
    throw new Error('broken observer')
  },
  'is slow'() {
    const untilMs = performance.now() + 20
    while (performance.now() < untilMs);
  },
}

test.each(Object.entries(hurtful))('an observer that %s at every event does not hurt a run', async (_, observe) => {
  await replica(observe)
  const handles = await q.enqueueMany([1, 2, 3].map((n) => ['double', { n }] as const))
  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([2, 4, 6])
})
