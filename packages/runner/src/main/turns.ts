/**
 * What goes with a replica's next turn, and what the last one brought: successes that wait to be written, and runs that
 * were started in the database and wait for the slot that a success is about to free.
 *
 * A success that nobody waits behind goes with the next turn, so ending one run and getting the next is one round trip.
 * Everything else (failures, concurrency keys, workflows, and what a turn could not settle) goes the long way.
 */
import { leaseKey, type ClaimedRun, type Finish } from '@q/store'

/** A success that waits to be written; exactly one of the two is called. */
export interface PendingFinish {
  readonly finish: Finish
  /** False: the turn did not settle it, so it goes the long way. */
  settled(isSettled: boolean): void
  /** The response was lost, so it is unknown whether the success was written. */
  unknown(error: unknown): void
}

export interface Turns {
  add(pending: PendingFinish): void
  /** How many wait. */
  size(): number
  /** True when a turn has settled it; false: tell it the long way. Rejects when nobody knows. */
  finish(finish: Finish): Promise<boolean>
  /** Takes what waits, to be sent; then one of the two below must follow. */
  takeFinishes(): Finishes
  /** Started in the database; no slot yet. */
  readonly unplaced: ClaimedRun[]
  /** The last turn was taken, and nothing is begun any more. */
  close(): void
  isOpen(): boolean
}

export interface Finishes {
  readonly all: readonly Finish[]
  settled(finished: readonly Finish['lease'][]): void
  unknown(error: unknown): void
}

/** More would make everything else wait for a long statement. */
const finishesMax = 512

export function createTurns(wake: () => void): Turns {
  const unplaced: ClaimedRun[] = []
  let waiting: PendingFinish[] = []
  let open = true
  return {
    unplaced,
    isOpen: () => open,
    add: (pending) => void waiting.push(pending),
    size: () => waiting.length,
    finish(finish) {
      if (!open) return Promise.resolve(false)
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      waiting.push({ finish, settled: resolve, unknown: reject })
      wake()
      return promise
    },
    takeFinishes() {
      const taken = waiting.splice(0, finishesMax)
      return {
        all: taken.map(({ finish }) => finish),
        settled(finished) {
          const keys = new Set(finished.map(leaseKey))
          for (const pending of taken) pending.settled(keys.has(leaseKey(pending.finish.lease)))
        },
        unknown(error) {
          for (const pending of taken) pending.unknown(error)
        },
      }
    },
    close() {
      open = false
      for (const pending of waiting.splice(0)) pending.settled(false)
    },
  }
}
