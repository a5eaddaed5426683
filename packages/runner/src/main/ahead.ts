/**
 * Runs claimed ahead of a free slot, in the order they are to be started. Their code has not begun: they can be given
 * back. One that somebody has locked when its turn comes keeps its place here and lets others pass.
 */
import type { ClaimedRun, Lease } from '@q/store'

export interface Ahead {
  readonly max: number
  size(): number
  add(runs: readonly ClaimedRun[]): void
  /** Taken out, to be started: those that may be now. Those that could not be are put back in front. */
  take(count: number, nowMs: number): ClaimedRun[]
  putBack(runs: readonly ClaimedRun[]): void
  /** Back in front, and not taken again before then. */
  putAside(runs: readonly ClaimedRun[], untilMs: number): void
  /** Until the first of those that were put aside may be taken. */
  asideForMs(nowMs: number): number
  /** Taken out, to be given back. */
  takeAll(): ClaimedRun[]
  /** False: it is not here any more. */
  remove(lease: Lease): boolean
  all(): readonly ClaimedRun[]
}

interface Waiting {
  readonly run: ClaimedRun
  readonly notBeforeMs: number
}

export function createAhead(max: number): Ahead {
  let waiting: Waiting[] = []
  const putInFront = (runs: readonly ClaimedRun[], notBeforeMs: number) =>
    void waiting.unshift(...runs.map((run) => ({ run, notBeforeMs })))
  return {
    max,
    size: () => waiting.length,
    add(runs) {
      waiting.push(...runs.map((run) => ({ run, notBeforeMs: 0 })))
    },
    take(count, nowMs) {
      const taken = new Set(waiting.filter(({ notBeforeMs }) => notBeforeMs <= nowMs).slice(0, count))
      waiting = waiting.filter((place) => !taken.has(place))
      return [...taken].map(({ run }) => run)
    },
    putBack: (runs) => putInFront(runs, 0),
    putAside: putInFront,
    asideForMs: (nowMs) =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...waiting.flatMap(({ notBeforeMs }) => (notBeforeMs > nowMs ? notBeforeMs - nowMs : [])),
      ),
    takeAll: () => waiting.splice(0).map(({ run }) => run),
    remove(lease) {
      const others = waiting.filter(({ run }) => run.runId !== lease.runId || run.fence !== lease.fence)
      const found = others.length < waiting.length
      waiting = others
      return found
    },
    all: () => waiting.map(({ run }) => run),
  }
}
