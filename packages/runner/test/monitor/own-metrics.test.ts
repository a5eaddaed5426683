import { expect, test } from 'vitest'
import { HeartbeatMonitor } from '@q/runner/monitor'
import { createOwnMetrics } from '../../src/monitor/own-metrics.ts'

/** Meters that a test sets. */
function metered(cores = 2) {
  const now = { ms: 0, cpuMs: 0, memoryMb: 100 }
  const metrics = createOwnMetrics({
    cores,
    nowMs: () => now.ms,
    cpuMs: () => now.cpuMs,
    memoryMb: () => now.memoryMb,
  })
  return { metrics, now }
}

test.each([
  [70, 4_096, 'healthy'],
  [70.1, 100, 'degraded'],
  [0, 4_096.1, 'degraded'],
  [90, 8_192, 'degraded'],
  [90.1, 100, 'unhealthy'],
  [0, 8_192.1, 'unhealthy'],
] as const)('CPU of %s %% and %s MB are %s', (cpuPercent, memoryMb, health) => {
  const { metrics, now } = metered(1)
  Object.assign(now, { ms: 10_000, cpuMs: cpuPercent * 100, memoryMb })
  expect(metrics.health()).toBe(health)
})

test('CPU counts over the last interval, in percent of all cores; the rest since the start', () => {
  const { metrics, now } = metered()
  Object.assign(now, { ms: 10_000, cpuMs: 10_000, memoryMb: 2_048.04 })
  expect(metrics.read()).toMatchObject({ cpu_usage: 50, memory_usage: 2_048, uptime: 10 })
  Object.assign(now, { ms: 20_000, cpuMs: 11_000 })
  expect(metrics.read()).toMatchObject({ cpu_usage: 5, uptime: 20 })
  Object.assign(now, { ms: 20_100, cpuMs: 12_000 })
  expect(metrics.read()).toMatchObject({ cpu_usage: 5 })
})

test('a monitor counts completed and failed tasks, and measures its process', () => {
  const monitor = new HeartbeatMonitor('worker-local-1', '')
  monitor.recordTaskCompletion()
  monitor.recordTaskCompletion()
  monitor.recordTaskFailure()
  expect(monitor.getMetrics()).toMatchObject({ tasks_completed: 2, tasks_failed: 1 })
  expect(monitor.getMetrics().memory_usage).toBeGreaterThan(10)
  expect(['healthy', 'degraded', 'unhealthy']).toContain(monitor.getHealthStatus())
})
