/**
 * Runs that were claimed before a slot was free, in the order in which they start. Their code has not begun, so they can
 * be released. If another transaction has a run locked when its turn comes, the run is deferred and the next one starts.
 */
import type { ClaimedRun, Lease } from '@q/store'

export interface PrefetchBuffer {
  readonly max: number
  size(): number
  add(runs: readonly ClaimedRun[]): void
  /** Removes and returns runs that may start now. */
  take(count: number, nowMs: number): ClaimedRun[]
  /** Puts runs back in front. */
  putBack(runs: readonly ClaimedRun[]): void
  /** Puts runs back in front; `take` skips them until `untilMs`. */
  defer(runs: readonly ClaimedRun[], untilMs: number): void
  /** The time until a deferred run may be taken; infinite if there is none. */
  deferredForMs(nowMs: number): number
  takeAll(): ClaimedRun[]
  /** Whether the run was here. */
  remove(lease: Lease): boolean
  all(): readonly ClaimedRun[]
}

interface Waiting {
  readonly run: ClaimedRun
  readonly notBeforeMs: number
}

export function createPrefetchBuffer(max: number): PrefetchBuffer {
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
      waiting = waiting.filter((entry) => !taken.has(entry))
      return [...taken].map(({ run }) => run)
    },
    putBack: (runs) => putInFront(runs, 0),
    defer: putInFront,
    deferredForMs: (nowMs) =>
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
