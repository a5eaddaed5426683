/** The performance goals, and the values of a run that are compared with them. */
import { peersOnce, peersPerCore, plain, postgresPeersOnce, qFail, qRetry } from '../measurements/entrants.ts'
import { emptyTable, shapes, type Shape } from '../measurements/growth-shapes.ts'
import type { Entrant } from '../measurements/measurement.ts'
import { bestOf, ratios, type Samples } from './samples.ts'

export interface PerformanceGoal {
  readonly measure: string
  readonly unit: '×' | '' | 'µs' | 'B' | '/s' | '%' | 'MB' | '× the empty table'
  readonly better: 'more' | 'less'
  readonly floor: number
  readonly goal: number
  /** One value for each round. */
  values(samples: Samples): number[]
}

const noOpPeer = 'no-op drain against the best tuned peer on its main thread'
/** The heaps of a replica that neither grows nor shrinks vary by this much. */
const noiseMb = 1
const enqueuePeer = 'enqueue against the best PostgreSQL peer'

export const goals: readonly PerformanceGoal[] = [
  atLeast(`${noOpPeer}: \`retry\``, '×', [0.5, 0.9], (samples) => overPeers(samples, 'no-op', 'perSecond', peersOnce)),
  atLeast(`${noOpPeer}: \`fail\``, '×', [0.2, 0.35], (samples) =>
    overPeers(samples, 'no-op', 'perSecond', peersOnce, qFail),
  ),
  atLeast('CPU 2.2 ms against the best peer', '×', [1.35, 1.75], (samples) =>
    overPeers(samples, 'cpu-2ms', 'perSecond', peersOnce),
  ),
  atLeast('CPU 2.2 ms of plain threads', '', [0.84, 0.93], (samples) => ofPlain(samples, 'cpu-2ms')),
  atLeast('CPU 22 ms of plain threads', '', [0.92, 0.97], (samples) => ofPlain(samples, 'cpu-22ms')),
  ...['cpu-2ms', 'cpu-22ms'].map((measurement) =>
    atLeast(
      `CPU ${measurement === 'cpu-2ms' ? '2.2' : '22'} ms against the best peer with one process per core`,
      '×',
      [0.95, 1.05],
      (samples) => overPeers(samples, measurement, 'perSecond', peersPerCore),
    ),
  ),
  atMost('idle enqueue → code against the best PostgreSQL peer: p50', '×', [1.1, 0.9], (samples) =>
    overPeers(samples, 'latency', 'p50', postgresPeersOnce, qRetry, 'less'),
  ),
  atMost('idle enqueue → code against the best PostgreSQL peer: p99', '×', [1.3, 1], (samples) =>
    overPeers(samples, 'latency', 'p99', postgresPeersOnce, qRetry, 'less'),
  ),
  atLeast(`${enqueuePeer}: sequential`, '×', [1, 1.5], (samples) =>
    overPeers(samples, 'enqueue', 'sequential', postgresPeersOnce),
  ),
  atLeast(`${enqueuePeer}: 20 callers`, '×', [5, 10], (samples) =>
    overPeers(samples, 'enqueue', 'callers20', postgresPeersOnce),
  ),
  atLeast(`${enqueuePeer}: bulk`, '×', [1, 1.4], (samples) => overPeers(samples, 'enqueue', 'bulk', postgresPeersOnce)),
  atMost('server CPU per no-op in batches', 'µs', [35, 26], (samples) => own(samples, 'no-op', 'serverUs')),
  atMost('WAL per no-op in batches', 'B', [900, 800], (samples) => own(samples, 'no-op', 'walBytes')),
  atMost('server CPU per 2.2 ms job', 'µs', [150, 80], (samples) => own(samples, 'cpu-2ms', 'serverUs')),
  atMost('main thread per no-op', 'µs', [15, 9], (samples) => own(samples, 'no-op', 'mainThreadUs')),
  atMost('main thread per 2.2 ms job', 'µs', [120, 55], (samples) => own(samples, 'cpu-2ms', 'mainThreadUs')),
  atMost('idle replica without a duty: transactions', '/s', [1.5, 1.5], (samples) => own(samples, 'idle', 'perSecond')),
  atMost('idle replica without a duty: of a core', '%', [0.5, 0.25], (samples) => own(samples, 'idle', 'cpuPercent')),
  atMost('memory per thread, trivial task', 'MB', [20, 15], (samples) => own(samples, 'memory', 'perThreadMb')),
  atMost('memory growth over 1 M runs', 'MB', [0, 0], growthOfHeaps),
  atMost('claim of 100 with the slowest of the large tables', '× the empty table', [2, 1.3], slowestClaim),
]

export type GoalResult = 'goal met' | 'floor met' | 'not met' | 'not measured'

/** How a median compares with the floor and the goal. */
export function goalResult({ better, floor, goal }: PerformanceGoal, median: number): GoalResult {
  const reaches = (limit: number) => (better === 'more' ? median >= limit : median <= limit)
  if (Number.isNaN(median)) return 'not measured'
  if (reaches(goal)) return 'goal met'
  return reaches(floor) ? 'floor met' : 'not met'
}

type Limits = readonly [floor: number, goal: number]
type Values = PerformanceGoal['values']

function atLeast(
  measure: string,
  unit: PerformanceGoal['unit'],
  [floor, goal]: Limits,
  values: Values,
): PerformanceGoal {
  return { measure, unit, better: 'more', floor, goal, values }
}

function atMost(
  measure: string,
  unit: PerformanceGoal['unit'],
  [floor, goal]: Limits,
  values: Values,
): PerformanceGoal {
  return { measure, unit, better: 'less', floor, goal, values }
}

/** A figure of q divided by the best of the peers, within each round. */
function overPeers(
  samples: Samples,
  measurement: string,
  key: string,
  peers: readonly Entrant[],
  { label }: Entrant = qRetry,
  better: 'more' | 'less' = 'more',
): number[] {
  const best = bestOf(
    peers.map((peer) => samples.figure(measurement, peer.label, key)),
    better,
  )
  return ratios(samples.figure(measurement, label, key), best)
}

function ofPlain(samples: Samples, measurement: string): number[] {
  return ratios(
    samples.figure(measurement, qRetry.label, 'perSecond'),
    samples.figure(measurement, plain.label, 'perSecond'),
  )
}

/** Returns 0 for growth that compiled code and its statistics explain. */
function growthOfHeaps(samples: Samples): number[] {
  return own(samples, 'heap-growth', 'growthMb').map((grownMb) => (grownMb <= noiseMb ? 0 : grownMb))
}

/** The time of the slowest table of each round, divided by that of the empty one. */
function slowestClaim(samples: Samples): number[] {
  const claimMs = ({ label }: Shape) => samples.figure('growth', label, 'claimMs')
  const full = shapes.filter((shape) => shape !== emptyTable).map(claimMs)
  return full.some(({ size }) => size > 0) ? ratios(bestOf(full, 'more'), claimMs(emptyTable)) : []
}

function own(samples: Samples, measurement: string, key: string): number[] {
  return [...samples.figure(measurement, qRetry.label, key).values()]
}
