/**
 * The counts of one queue and task on one replica since its last flush, and the bound on how many tasks one
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
  /** Attempts that ended and will be followed by another one. */
  readonly retried: number
  /** Attempts that ended with the death of their replica, thread or child process. */
  readonly crashed: number
  readonly busyMs: number
  /** Time from due to started, only of first starts. */
  readonly waitMs: number
  /** The same times as counts per bucket (histogram.ts). */
  readonly wait: readonly number[]
  /** Durations of attempts as counts per bucket. */
  readonly duration: readonly number[]
}

/** A tally while it is being counted. */
export type OpenTally = {
  -readonly [Key in keyof RunTally]: RunTally[Key] extends readonly number[] ? number[] : RunTally[Key]
}

/** The task name of pairs that a flush does not list. */
export const otherTasks = '…'

/** The most pairs of queue and task in one flush. */
const talliesMax = 200

/** Returns the busiest pairs; sums up the others per queue. */
export function boundTallies(tallies: readonly RunTally[], most: number = talliesMax): RunTally[] {
  if (tallies.length <= most) return [...tallies]
  // A task may have the name of the sums; the database refuses to add to one row twice.
  const busiest = tallies.filter(({ task }) => task !== otherTasks).toSorted((a, b) => weightOf(b) - weightOf(a))
  const listed = busiest.slice(0, most)
  const others = Map.groupBy(new Set(tallies).difference(new Set(listed)), (tally) => tally.queue)
  return [...listed, ...[...others].map(([queue, rest]) => sumOf(queue, otherTasks, rest))]
}

export function emptyTally(queue: string, task: string): OpenTally {
  return {
    queue,
    task,
    started: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    retried: 0,
    crashed: 0,
    busyMs: 0,
    waitMs: 0,
    wait: [],
    duration: [],
  }
}

const counted = ['started', 'succeeded', 'failed', 'cancelled', 'retried', 'crashed', 'busyMs', 'waitMs'] as const

/** Adds one tally to another. */
export function addTally(sum: OpenTally, tally: RunTally): void {
  for (const key of counted) sum[key] += tally[key]
  addHistogram(sum.wait, tally.wait)
  addHistogram(sum.duration, tally.duration)
}

function weightOf(tally: RunTally): number {
  return tally.started + tally.succeeded + tally.failed + tally.cancelled + tally.retried + tally.crashed
}

function sumOf(queue: string, task: string, tallies: readonly RunTally[]): RunTally {
  const sum = emptyTally(queue, task)
  for (const tally of tallies) addTally(sum, tally)
  return sum
}
