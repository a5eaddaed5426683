/**
 * What one replica counted of the runs of one queue and task since its last flush, and the bound on how many tasks one
 * flush names. Pure.
 */
import { addHistogram } from './histogram.ts'

export interface RunTally {
  readonly queue: string
  readonly task: string
  readonly started: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  /** Attempts that ended and will be started again. */
  readonly retried: number
  /** Attempts that ended by the death of their replica, thread or child process. */
  readonly crashed: number
  readonly busyMs: number
  /** Counts per bucket (histogram.ts): from due to started, first starts alone. */
  readonly wait: readonly number[]
  /** Counts per bucket: how long attempts took. */
  readonly duration: readonly number[]
}

/** The task of the pairs that a flush does not name. */
export const otherTasks = '…'

/** Pairs of queue and task that one flush names. */
const talliesMax = 200

/** The busiest pairs; the others are summed up per queue. */
export function boundTallies(tallies: readonly RunTally[], most: number = talliesMax): RunTally[] {
  if (tallies.length <= most) return [...tallies]
  const busiest = tallies.toSorted((a, b) => weightOf(b) - weightOf(a))
  const others = Map.groupBy(busiest.slice(most), (tally) => tally.queue)
  return [...busiest.slice(0, most), ...[...others].map(([queue, rest]) => sumOf(queue, otherTasks, rest))]
}

function weightOf(tally: RunTally): number {
  return tally.started + tally.succeeded + tally.failed + tally.cancelled + tally.retried + tally.crashed
}

function sumOf(queue: string, task: string, tallies: readonly RunTally[]): RunTally {
  const sum = (read: (tally: RunTally) => number) => tallies.reduce((total, tally) => total + read(tally), 0)
  const wait: number[] = []
  const duration: number[] = []
  for (const tally of tallies) {
    addHistogram(wait, tally.wait)
    addHistogram(duration, tally.duration)
  }
  return {
    queue,
    task,
    started: sum((tally) => tally.started),
    succeeded: sum((tally) => tally.succeeded),
    failed: sum((tally) => tally.failed),
    cancelled: sum((tally) => tally.cancelled),
    retried: sum((tally) => tally.retried),
    crashed: sum((tally) => tally.crashed),
    busyMs: sum((tally) => tally.busyMs),
    wait,
    duration,
  }
}
