/**
 * Sets of intervals and thresholds that fit together. A threshold is how long a replica or run may send no heartbeat
 * before others act; it is always several intervals, so that one lost heartbeat has no effect. Every value can also be
 * set alone (settings.ts).
 */
import type { Thresholds } from '@q/store'

export interface Preset {
  readonly thresholds: Thresholds
  readonly heartbeatsKeptMs: number
  /** For runs whose task sets no `onCrash`. */
  readonly onCrash: 'fail' | 'retry'
  /** Limits of runs whose task sets none; null: none. */
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** How long a run may wait while no live replica can serve it, before it fails; null: forever. */
  readonly unroutableMs: number | null
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const standard: Thresholds = {
  replicaBeatMs: 10 * second,
  replicaStaleMs: 60 * second,
  checkEveryMs: 30 * second,
  claimerBeatMs: 30 * second,
  claimerStaleMs: 120 * second,
  runnerBeatMs: 30 * second,
  runnerStaleMs: 300 * second,
}

function everyone(beatMs: number, staleMs: number, checkEveryMs: number): Thresholds {
  return {
    replicaBeatMs: beatMs,
    replicaStaleMs: staleMs,
    checkEveryMs,
    claimerBeatMs: beatMs,
    claimerStaleMs: staleMs,
    runnerBeatMs: beatMs,
    runnerStaleMs: staleMs,
  }
}

const base = {
  heartbeatsKeptMs: hour,
  onCrash: 'fail',
  timeoutMs: null,
  maxSilentMs: null,
  unroutableMs: null,
} as const
const patient = { ...base, heartbeatsKeptMs: 24 * hour, onCrash: 'retry' } as const

export const presets: Readonly<Record<string, Preset>> = {
  default: { ...base, thresholds: standard },
  fast: { ...base, thresholds: { ...everyone(second, 5 * second, second), runnerStaleMs: 10 * second } },
  'cpu-heavy': { ...base, thresholds: { ...standard, runnerBeatMs: 60 * second, runnerStaleMs: 300 * second } },
  'quick-tasks': { ...base, thresholds: { ...standard, runnerBeatMs: 10 * second, runnerStaleMs: 30 * second } },
  ci: {
    ...base,
    thresholds: everyone(30 * second, 120 * second, 30 * second),
    onCrash: 'retry',
    timeoutMs: 4 * hour,
    maxSilentMs: 30 * minute,
    unroutableMs: 30 * minute,
  },
  relaxed: { ...patient, thresholds: everyone(5 * minute, 10 * minute, minute) },
  'relaxed-fast': { ...patient, thresholds: everyone(2 * minute, 5 * minute, 30 * second) },
  'relaxed-long': { ...patient, thresholds: everyone(10 * minute, 30 * minute, 5 * minute) },
}
