/** Counts a replica's events, for metrics. It may miss an event; no run waits for it. */
import { countTime } from '@q/store'
import type { Observe, RunnerEvent } from '../main/events.ts'

export interface EventCounts {
  readonly observe: Observe
  /** By error code, of attempts that failed. */
  readonly errors: ReadonlyMap<string, number>
  /** Recovered runs by cause. */
  readonly recovered: ReadonlyMap<string, number>
  /** How long dead holders had been silent, by cause. */
  readonly detections: ReadonlyMap<string, Times>
  readonly heartbeats: Times
  /** Reports by destination and outcome. */
  readonly deliveries: readonly DeliveryCount[]
  readonly sums: Readonly<Record<Sum, number>>
  isDraining(): boolean
}

export interface DeliveryCount {
  readonly destination: string
  readonly outcome: 'delivered' | 'failed' | 'given-up'
  reports: number
}

export interface Times {
  /** Counts per bucket of the store's histograms. */
  readonly counts: number[]
  sumMs: number
}

type Sum =
  | 'heartbeatFailures'
  | 'heartbeatAlerts'
  | 'refusedWrites'
  | 'selfFences'
  | 'loopFailures'
  | 'logLinesDropped'
  | 'released'

type Counted = {
  readonly [Type in RunnerEvent['type']]?: (event: Extract<RunnerEvent, { readonly type: Type }>) => void
}

export function createEventCounts(): EventCounts {
  const errors = new Map<string, number>()
  const recovered = new Map<string, number>()
  const detections = new Map<string, Times>()
  const heartbeats = noTimes()
  const deliveries: DeliveryCount[] = []
  const sums = {
    heartbeatFailures: 0,
    heartbeatAlerts: 0,
    refusedWrites: 0,
    selfFences: 0,
    loopFailures: 0,
    logLinesDropped: 0,
    released: 0,
  }
  let draining = false

  function countRecovery({ cause, runIds, silentMs }: Extract<RunnerEvent, { type: 'runs-recovered' }>): void {
    add(recovered, cause, runIds.length)
    if (silentMs === null) return
    const times = detections.get(cause) ?? noTimes()
    detections.set(cause, times)
    addTime(times, silentMs)
  }

  function countReports(destination: string, outcome: DeliveryCount['outcome'], reports: number): void {
    const counted = deliveries.find((one) => one.destination === destination && one.outcome === outcome)
    if (counted === undefined) deliveries.push({ destination, outcome, reports })
    else counted.reports += reports
  }

  const countError = ({ code }: { readonly code?: string }) => void (code !== undefined && add(errors, code, 1))
  const countLoopFailure = () => void sums.loopFailures++
  const counted: Counted = {
    'run-ended': countError,
    'run-retried': countError,
    'runs-recovered': countRecovery,
    'beat-accepted': ({ tookMs }) => addTime(heartbeats, tookMs),
    'beat-failed': () => void sums.heartbeatFailures++,
    'heartbeat-alert': () => void sums.heartbeatAlerts++,
    'deliveries-sent': ({ destination, reports }) => countReports(destination, 'delivered', reports),
    'deliveries-failed': ({ destination, reports }) => countReports(destination, 'failed', reports),
    'deliveries-given-up': ({ destination, ids }) => countReports(destination, 'given-up', ids.length),
    'lease-lost': () => void sums.refusedWrites++,
    fenced: () => void sums.selfFences++,
    'loop-failed': countLoopFailure,
    'job-failed': countLoopFailure,
    'log-lines-dropped': ({ lines }) => void (sums.logLinesDropped += lines),
    'runs-released': ({ runIds }) => void (sums.released += runIds.length),
    draining: () => void (draining = true),
    'drain-undone': () => void (draining = false),
  }
  const observe = (event: RunnerEvent) => counted[event.type]?.(event as never)
  return { observe, errors, recovered, detections, heartbeats, deliveries, sums, isDraining: () => draining }
}

function noTimes(): Times {
  return { counts: [], sumMs: 0 }
}

function addTime(times: Times, ms: number): void {
  countTime(times.counts, ms)
  times.sumMs += ms
}

function add(counts: Map<string, number>, key: string, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
