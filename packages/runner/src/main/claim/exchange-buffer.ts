/**
 * Buffers between a replica's exchanges with the database: successes that the next exchange writes, and runs that the last
 * one started and that wait for a slot.
 *
 * A plain success is sent with the next exchange, so one round trip ends a run and fetches the next one. settle.ts
 * writes everything else: failures, runs with concurrency keys, steps, and successes that an exchange did not settle.
 */
import { leaseKey, type ClaimedRun, type Finish } from '@q/store'

/** A success that waits to be written. Exactly one of its two functions is called. */
export interface PendingFinish {
  readonly finish: Finish
  /** False: the exchange did not settle it, so settle.ts writes it. */
  settled(isSettled: boolean): void
  /** The response was lost, so it is unknown whether the success was written. */
  unknown(error: unknown): void
}

export interface ExchangeBuffer {
  add(pending: PendingFinish): void
  /** The number of successes that wait. */
  size(): number
  /** Resolves to whether an exchange settled it; if not, settle.ts writes it. Rejects if this is unknown. */
  finish(finish: Finish): Promise<boolean>
  /** Takes the waiting successes, to be sent. The caller then calls `settled` or `unknown` of the result. */
  takeFinishes(): Finishes
  /** Runs that are started in the database and have no slot yet. */
  readonly awaitingSlot: ClaimedRun[]
  /** No further exchange writes successes, and no further run begins. */
  close(): void
  isOpen(): boolean
}

export interface Finishes {
  readonly all: readonly Finish[]
  settled(finished: readonly Finish['lease'][]): void
  unknown(error: unknown): void
}

/** A longer statement would delay the claims that it carries. */
const finishesMax = 512

export function createExchangeBuffer(wake: () => void): ExchangeBuffer {
  const awaitingSlot: ClaimedRun[] = []
  let waiting: PendingFinish[] = []
  let open = true
  return {
    awaitingSlot,
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
