/**
 * Sets of intervals and thresholds that fit together. A threshold is how long somebody may be silent before others act;
 * it is always several beats, so that one lost beat means nothing.
 */
import type { Thresholds } from '@q/store'

export interface Preset {
  readonly thresholds: Thresholds
  readonly heartbeatsKeptMs: number
  /** For runs whose task does not say. */
  readonly onCrash: 'fail' | 'retry'
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

export const presets: Readonly<Record<string, Preset>> = {
  default: { thresholds: standard, heartbeatsKeptMs: hour, onCrash: 'fail' },
  fast: {
    thresholds: { ...everyone(second, 5 * second, second), runnerStaleMs: 10 * second },
    heartbeatsKeptMs: hour,
    onCrash: 'fail',
  },
  'cpu-heavy': {
    thresholds: { ...standard, runnerBeatMs: 60 * second, runnerStaleMs: 300 * second },
    heartbeatsKeptMs: hour,
    onCrash: 'fail',
  },
  'quick-tasks': {
    thresholds: { ...standard, runnerBeatMs: 10 * second, runnerStaleMs: 30 * second },
    heartbeatsKeptMs: hour,
    onCrash: 'fail',
  },
  ci: { thresholds: everyone(30 * second, 120 * second, 30 * second), heartbeatsKeptMs: hour, onCrash: 'retry' },
  relaxed: { thresholds: everyone(5 * minute, 10 * minute, minute), heartbeatsKeptMs: 24 * hour, onCrash: 'retry' },
  'relaxed-fast': {
    thresholds: everyone(2 * minute, 5 * minute, 30 * second),
    heartbeatsKeptMs: 24 * hour,
    onCrash: 'retry',
  },
  'relaxed-long': {
    thresholds: everyone(10 * minute, 30 * minute, 5 * minute),
    heartbeatsKeptMs: 24 * hour,
    onCrash: 'retry',
  },
}
