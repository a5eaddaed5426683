/** Runs claimed ahead of a free slot, in the order they are to be started. Their code has not begun: they can be given back. */
import type { ClaimedRun, Lease } from '@q/store'

export interface Ahead {
  readonly max: number
  size(): number
  add(runs: readonly ClaimedRun[]): void
  /** Taken out, to be started; those that could not be are put back in front. */
  take(count: number): ClaimedRun[]
  putBack(runs: readonly ClaimedRun[]): void
  remove(lease: Lease): void
  all(): readonly ClaimedRun[]
}

export function createAhead(max: number): Ahead {
  let waiting: ClaimedRun[] = []
  return {
    max,
    size: () => waiting.length,
    add(runs) {
      waiting.push(...runs)
    },
    take: (count) => waiting.splice(0, count),
    putBack(runs) {
      waiting.unshift(...runs)
    },
    remove(lease) {
      waiting = waiting.filter((run) => run.runId !== lease.runId || run.fence !== lease.fence)
    },
    all: () => [...waiting],
  }
}
