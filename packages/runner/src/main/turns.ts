/**
 * What goes with a replica's next turn, and what the last one brought: successes that wait to be written, and runs that
 * were started in the database and wait for the slot that a success is about to free.
 *
 * A success that nobody waits behind goes with the next turn, so ending one run and getting the next is one round trip.
 * Everything else (failures, concurrency keys, workflows, and what a turn could not settle) goes the long way.
 */
import { leaseKey, type ClaimedRun, type Finish } from '@q/store'

export interface Turns {
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

/** More would make everybody wait for a long statement. */
const finishesMax = 200

interface Waiting {
  readonly finish: Finish
  readonly resolve: (settled: boolean) => void
  readonly reject: (error: unknown) => void
}

export function createTurns(wake: () => void): Turns {
  const unplaced: ClaimedRun[] = []
  let waiting: Waiting[] = []
  let open = true
  return {
    unplaced,
    isOpen: () => open,
    finish(finish) {
      if (!open) return Promise.resolve(false)
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      waiting.push({ finish, resolve, reject })
      wake()
      return promise
    },
    takeFinishes() {
      const taken = waiting.splice(0, finishesMax)
      return {
        all: taken.map(({ finish }) => finish),
        settled(finished) {
          const keys = new Set(finished.map(leaseKey))
          for (const { finish, resolve } of taken) resolve(keys.has(leaseKey(finish.lease)))
        },
        unknown(error) {
          for (const { reject } of taken) reject(error)
        },
      }
    },
    close() {
      open = false
      for (const { resolve } of waiting) resolve(false)
      waiting = []
    },
  }
}
