import type { RunId } from '@q/store'
import { expect, test } from 'vitest'
import { createMetricsObserver } from '../src/observers/metrics.ts'

const ids = (...numbers: number[]) => numbers.map((number) => String(number) as RunId)

test('events are counted under the names of the metrics, without ids or texts of code', () => {
  const observer = createMetricsObserver('1')
  const { observe } = observer
  const dead = { type: 'runs-recovered', holder: 'n1', holderName: 'secret', hostname: 'h' } as const
  observe({ ...dead, cause: 'presence', silentMs: 2_600, runIds: ids(1, 2) })
  observe({ ...dead, cause: 'presence', silentMs: 3_000, runIds: ids(3) })
  observe({ ...dead, cause: 'reconciled', silentMs: null, runIds: ids(4) })
  observe({
    type: 'run-ended',
    runId: ids(5)[0]!,
    task: 't',
    status: 'FAILED',
    tookMs: 1,
    code: 'TIMEOUT',
    detail: 'secret',
  })
  observe({ type: 'run-ended', runId: ids(6)[0]!, task: 't', status: 'SUCCEEDED', tookMs: 1 })
  observe({ type: 'lease-lost', runId: ids(7)[0]!, task: 't' })
  observe({ type: 'fenced', runIds: ids(8) })
  observe({ type: 'beat-accepted', tookMs: 4 })
  observe({ type: 'beat-failed', consecutive: 1, error: new Error('secret'), retryInMs: 1 })
  observe({ type: 'heartbeat-alert', consecutive: 3, error: new Error('secret') })
  observe({ type: 'deliveries-sent', destination: 'hook', reports: 2 })
  observe({ type: 'deliveries-sent', destination: 'hook', reports: 3 })
  observe({ type: 'deliveries-failed', destination: 'hook', reports: 1, error: 'secret' })
  observe({ type: 'deliveries-given-up', destination: 'log', ids: ['1', '2'], error: 'secret' })
  observe({ type: 'log-lines-dropped', lines: 7 })
  const read = observer.read(undefined)
  observer.close()
  expect(read).toMatchObject({
    q_recovered_runs_total: [
      { labels: { cause: 'presence' }, value: 3 },
      { labels: { cause: 'reconciled' }, value: 1 },
    ],
    q_detection_seconds: [{ labels: { cause: 'presence' }, sumMs: 5_600 }],
    q_run_errors_total: [{ labels: { code: 'TIMEOUT' }, value: 1 }],
    q_deliveries_total: [
      { labels: { destination: 'hook', outcome: 'delivered' }, value: 5 },
      { labels: { destination: 'hook', outcome: 'failed' }, value: 1 },
      { labels: { destination: 'log', outcome: 'given-up' }, value: 2 },
    ],
    q_refused_writes_total: [{ value: 1 }],
    q_self_fences_total: [{ value: 1 }],
    q_heartbeat_seconds: [{ sumMs: 4 }],
    q_heartbeat_failures_total: [{ value: 1 }],
    q_heartbeat_alerts_total: [{ value: 1 }],
    q_log_lines_dropped_total: [{ value: 7 }],
    q_draining: [{ value: 0 }],
  })
  expect(JSON.stringify(read)).not.toContain('secret')
})
