/** The files in docs/deploy, parsed and held against the program: settings, ports, times, commands, queries. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describe, expect, test } from 'vitest'
import { presets } from '../../packages/runner/src/settings/presets.ts'
import { programSettings, settings } from '../../packages/runner/src/settings/settings.ts'
import { areaOf } from '../../packages/server/src/http/checks.ts'
import { metricTable } from '../../packages/server/src/metrics/metric-table.ts'
import { readHttpSettings } from '../../packages/server/src/settings.ts'
import { alerts } from '../codegen/monitoring/alert-table.ts'
import { panels } from '../codegen/monitoring/dashboard-table.ts'
import { workspace } from '../workspace.ts'

const read = (name: string) => readFile(join(workspace, 'docs/deploy', name), 'utf8')

/** A parsed file; the tests say which shape it has. */
type Parsed = ReturnType<typeof JSON.parse>

async function yaml(name: string): Promise<Parsed[]> {
  const documents = parseAllDocuments(await read(name), { strict: true, merge: true })
  return documents.map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([])
    return document.toJS()
  })
}

const files = ['Dockerfile', 'compose.yaml', 'kubernetes.yaml', 'q-worker.service', 'prometheus.yaml']
const [compose] = await yaml('compose.yaml')
const [deployment] = await yaml('kubernetes.yaml')
const { spec: pod } = deployment.spec.template
const [container] = pod.containers
const { drainMs, stopGraceMs } = settings
/** As docs/reference/replicas.md says. */
const graceS = (drainMs.otherwise(presets['default']!) + stopGraceMs.otherwise(presets['default']!)) / 1_000 + 18
const port = 9464

test('every variable of q in the files is a setting', async () => {
  const known = new Set([...Object.values(settings), ...programSettings].map(({ variable }) => variable))
  for (const file of files) {
    const named = [...(await read(file)).matchAll(/\b(Q_[A-Z_]+|DATABASE_URL[A-Z_]*)\b/g)].map(([, name]) => name)
    expect({ file, unknown: named.filter((name) => !known.has(name!)) }).toEqual({ file, unknown: [] })
  }
})

test('every file waits as long as a drain may take before it kills', async () => {
  const environment = Object.fromEntries(container.env.map(({ name, value }: Parsed) => [name, value]))
  expect(Number(environment.Q_DRAIN_MS)).toBe(drainMs.otherwise(presets['default']!))
  expect(pod.terminationGracePeriodSeconds).toBe(graceS)
  expect(compose.services.worker.stop_grace_period).toBe(`${graceS}s`)
  expect(await read('q-worker.service')).toContain(`\nTimeoutStopSec=${graceS}\n`)
  expect(await read('../reference/replicas.md')).toContain('Wait `Q_DRAIN_MS` + `Q_STOP_GRACE_MS` + 18 s')
})

test('probes, scrapes and ports are those of the metrics address', async () => {
  const { startupProbe, readinessProbe, livenessProbe, ports } = container
  const probes = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)
  expect(probes.map(({ path }) => path)).toEqual(['/startupz', '/readyz', '/healthz'])
  for (const { path, port: named } of probes)
    expect({ path, area: areaOf(path), named }).toEqual({ path, area: 'probe', named: 'metrics' })
  expect(ports).toEqual([{ name: 'metrics', containerPort: port }])
  expect(deployment.spec.template.metadata.annotations['prometheus.io/port']).toBe(String(port))
  for (const file of files)
    for (const [, address] of (await read(file)).matchAll(/Q_METRICS_ADDRESS(?:=|: |, value: ')([\d.:]+)/g))
      expect({ file, ...readHttpSettings({ Q_METRICS_ADDRESS: address! }).metrics }).toMatchObject({ file, port })
  const [prometheus] = await yaml('prometheus.yaml')
  expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual([`127.0.0.1:${port}`])
  expect(await read('Dockerfile')).toContain(`\nEXPOSE ${port}\n`)
})

test('the page of the compose file is configured as the server requires, and published on loopback', () => {
  const { environment, ports } = compose.services.page
  expect(readHttpSettings(environment)).toMatchObject({ port: 7780, origin: 'http://localhost:7780' })
  expect(ports).toEqual(['127.0.0.1:7780:7780'])
})

test('every command in the files and alerts is a command of q, and its program is in the package', async () => {
  const manifest = JSON.parse(await readFile(join(workspace, 'packages/cli/package.json'), 'utf8'))
  expect(manifest.bin.q).toBe('./bin/q.js')
  const texts = await Promise.all(files.map(read))
  const started = texts.flatMap((text) =>
    [...text.matchAll(/@q\/cli\/bin\/q\.js["',]*\s+["']?(\w+)/g)].map(([, name]) => name!),
  )
  expect([...new Set(started)].toSorted()).toEqual(['drain', 'serve', 'start'])
  const advised = alerts.flatMap(({ action }) => [...action.matchAll(/`q (\w+)/g)].map(([, name]) => name!))
  for (const name of new Set([...started, ...advised])) {
    const source = await readFile(join(workspace, `packages/cli/src/commands/${name}.ts`), 'utf8')
    expect(source).toMatch(new RegExp(`(name: |Command\\()'${name}'`))
  }
})

test('the unit drains by the signal to the replica alone, and does not restart what must stay down', async () => {
  const unit = await read('q-worker.service')
  for (const line of unit.split('\n').filter((one) => one !== '' && !one.startsWith('#')))
    expect(line).toMatch(/^(\[\w+\]|[A-Z]\w+=.+)$/)
  expect(unit).toContain('KillMode=mixed')
  expect(unit).toContain('RestartPreventExitStatus=7 57')
})

describe('queries', () => {
  const queries = [
    ...alerts.map(({ expr }) => expr),
    ...panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)),
  ]
  const foreign = new Set(['up'])
  const metrics = /\b(up|q_\w+|process_\w+)(?:\{([^}]*)\})?/g

  test.each(queries)('%s asks for metrics and labels of the table', (query) => {
    for (const [, name = '', matchers = ''] of query.matchAll(metrics)) {
      if (foreign.has(name)) continue
      const metric = metricTable[name] ?? metricTable[name.replace(/_(bucket|sum|count)$/, '')]
      expect({ name, isKnown: metric !== undefined }).toEqual({ name, isKnown: true })
      const labels = [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!)
      const known = [...(metric?.labels ?? []), 'job', 'instance']
      expect({ name, unknown: labels.filter((label) => !known.includes(label)) }).toEqual({ name, unknown: [] })
      const isRated = metric?.type !== 'counter' || new RegExp(`(rate|increase)\\(${name}`).test(query)
      expect({ name, isRated }).toEqual({ name, isRated: true })
    }
  })

  test('the generated files are valid, and every metric of the cluster is asked for by its maximum or minimum', async () => {
    const [rules] = await yaml('generated/prometheus-rules.yaml')
    expect(rules.groups[0].rules.map(({ alert }: Parsed) => alert)).toEqual(alerts.map(({ name }) => name))
    const dashboard = JSON.parse(await read('generated/grafana-dashboard.json'))
    expect(dashboard.panels).toHaveLength(panels.length)
    for (const query of queries)
      for (const [whole] of query.matchAll(/\S*\s*\(?q_(queue|nodes|lanes|runs_to|sample|cluster)\w*/g))
        expect(whole).toMatch(/\(q_/)
  })
})
