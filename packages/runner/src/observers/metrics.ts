/**
 * The metrics of a replica as plain numbers by name. @q/server defines the names and writes the metrics. They are
 * computed on each read.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RunTally } from '@q/store'
import type { Observe } from '../main/events.ts'
import type { RunnerStats } from '../main/stats/runner-stats.ts'
import { createEventCounts, type EventCounts, type Times } from './event-counts.ts'

export interface MetricsObserver {
  readonly observe: Observe
  /** `stats`: the replica's; undefined before it has started. */
  read(stats: RunnerStats | undefined): MetricReadings
  close(): void
}

export type MetricReadings = Readonly<Record<string, readonly MetricReading[]>>

type DelayMonitor = ReturnType<typeof monitorEventLoopDelay>
type Labels = Readonly<Record<string, string>>
type MetricReading =
  | { readonly labels?: Labels; readonly value: number }
  | { readonly labels?: Labels; readonly counts: readonly number[]; readonly sumMs: number }

export function createMetricsObserver(version: string): MetricsObserver {
  const events = createEventCounts()
  let delay: DelayMonitor | undefined
  function mainThreadDelay(): DelayMonitor {
    if (delay !== undefined) return delay
    // It wakes the process 50 times a second, so it starts with the first scrape.
    delay = monitorEventLoopDelay({ resolution: delayResolutionMs })
    delay.enable()
    return delay
  }
  return {
    observe: events.observe,
    read: (stats) => ({
      q_info: [{ labels: { version }, value: 1 }],
      ...(stats === undefined ? {} : { ...runReadings(stats.runs), ...replicaReadings(stats) }),
      ...eventReadings(events),
      ...processReadings(),
      q_event_loop_delay_seconds: delayReadings(mainThreadDelay()),
    }),
    close: () => void delay?.disable(),
  }
}

const outcomes = ['succeeded', 'failed', 'cancelled', 'retried'] as const

function runReadings(runs: readonly RunTally[]): MetricReadings {
  const each = (value: (tally: RunTally) => number) =>
    runs.map((tally) => ({ labels: pairOf(tally), value: value(tally) }))
  return {
    q_runs_started_total: each(({ started }) => started),
    q_runs_ended_total: outcomes.flatMap((outcome) =>
      runs.map((tally) => ({ labels: { ...pairOf(tally), outcome }, value: tally[outcome] })),
    ),
    q_runs_crashed_total: each(({ crashed }) => crashed),
    q_run_duration_seconds: runs.map((tally) => ({
      labels: pairOf(tally),
      counts: tally.duration,
      sumMs: tally.busyMs,
    })),
    q_run_wait_seconds: [...Map.groupBy(runs, ({ queue }) => queue)].map(([queue, own]) => ({
      labels: { queue },
      counts: sumOfHistograms(own.map(({ wait }) => wait)),
      sumMs: own.reduce((sum, { waitMs }) => sum + waitMs, 0),
    })),
  }
}

function pairOf({ queue, task }: RunTally): Labels {
  return { queue, task }
}

function sumOfHistograms(histograms: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...histograms.map((counts) => counts.length))
  return Array.from({ length }, (_, bucket) => histograms.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0))
}

function replicaReadings({ slots, health, exchanges, threadsCpuMs }: RunnerStats): MetricReadings {
  return {
    q_slots: [
      { labels: { state: 'busy' }, value: slots.busy },
      { labels: { state: 'free' }, value: slots.total - slots.busy },
    ],
    q_health: (['healthy', 'degraded', 'unhealthy'] as const).map((state) => ({
      labels: { state },
      value: Number(state === health),
    })),
    q_claimed_runs_total: [{ value: exchanges.claimed }],
    q_exchange_seconds: [{ counts: exchanges.times, sumMs: exchanges.tookMs }],
    q_thread_cpu_seconds_total: threadsCpuMs.flatMap((cpuMs, thread) =>
      cpuMs === undefined ? [] : { labels: { thread: String(thread) }, value: cpuMs / 1_000 },
    ),
  }
}

function eventReadings(events: EventCounts): MetricReadings {
  const { errors, recovered, detections, heartbeats, deliveries, sums, isDraining } = events
  const counted = (label: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([key, value]) => ({ labels: { [label]: key }, value }))
  const timed = (times: Times) => ({ counts: times.counts, sumMs: times.sumMs })
  return {
    q_run_errors_total: counted('code', errors),
    q_recovered_runs_total: counted('cause', recovered),
    q_detection_seconds: [...detections].map(([cause, times]) => ({ labels: { cause }, ...timed(times) })),
    q_heartbeat_seconds: [timed(heartbeats)],
    q_heartbeat_failures_total: [{ value: sums.heartbeatFailures }],
    q_heartbeat_alerts_total: [{ value: sums.heartbeatAlerts }],
    q_deliveries_total: deliveries.map(({ destination, outcome, reports }) => ({
      labels: { destination, outcome },
      value: reports,
    })),
    q_refused_writes_total: [{ value: sums.refusedWrites }],
    q_self_fences_total: [{ value: sums.selfFences }],
    q_loop_failures_total: [{ value: sums.loopFailures }],
    q_log_lines_dropped_total: [{ value: sums.logLinesDropped }],
    q_released_runs_total: [{ value: sums.released }],
    q_draining: [{ value: Number(isDraining()) }],
  }
}

function processReadings(): MetricReadings {
  const { user, system } = process.cpuUsage()
  return {
    process_cpu_seconds_total: [{ value: (user + system) / 1_000_000 }],
    process_resident_memory_bytes: [{ value: process.memoryUsage.rss() }],
    process_start_time_seconds: [{ value: Math.round(performance.timeOrigin / 1_000) }],
  }
}

const delayResolutionMs = 20

/**
 * Event loop delay since the last reading. The monitor measures between its ticks, so an idle thread shows the tick
 * interval.
 */
function delayReadings(delay: DelayMonitor): readonly MetricReading[] {
  const quantiles = [0.5, 0.99, 1]
  const readings = quantiles.map((quantile) => ({
    labels: { quantile: String(quantile) },
    value: Math.max(0, delay.percentile(quantile * 100) / 1e6 - delayResolutionMs) / 1_000,
  }))
  delay.reset()
  return readings
}
