/** The batches of one destination in flight, within the limits of the destination and of the replica. */
import type { LeasedDelivery, Store } from '@q/store'
import type { OpenSender } from './open-sender.ts'
import { sendBatch, type BatchAnswer, type BatchDeps } from './send-batch.ts'

export interface BatchesDeps extends Pick<BatchDeps, 'observe' | 'sendMsMax'> {
  readonly store: BatchDeps['store'] & Pick<Store, 'leaseDeliveries'>
  readonly replicaId: string
  /** The number of batches that this replica has in flight to all destinations. */
  readonly inFlight: { count: number }
  /** Starts the next round. */
  readonly wake: () => void
}

export interface Batches {
  /** Leases one batch and sends it in the background. Returns whether it was full. */
  start(by: OpenSender): Promise<boolean>
  mayStart(by: OpenSender): boolean
  isIdle(): boolean
  /** Resolves when the batches that are in flight now have ended. */
  settled(): Promise<unknown>
}

/** Longer than a sender may take. */
const leaseMs = 60_000
const inFlightMaxOfReplica = 16

/** `ended` gets the result of each batch, whether its sender returned or hung. */
export function createBatches(
  deps: BatchesDeps,
  destination: string,
  ended: (by: OpenSender, answer: BatchAnswer) => Promise<void>,
): Batches {
  const { inFlight, store, observe } = deps
  const batches = new Set<Promise<void>>()
  let batchNo = 0

  async function send(by: OpenSender, holder: string, leased: readonly LeasedDelivery[]): Promise<void> {
    inFlight.count++
    try {
      await ended(by, await sendBatch({ ...deps, sender: by, destination, holder }, leased))
    } catch (error) {
      // Its reports are sent again when their leases have expired.
      observe({ type: 'destination-unavailable', destination, error })
    }
    inFlight.count--
  }

  return {
    async start(by) {
      const holder = `${deps.replicaId}/${++batchNo}`
      const limit = by.kind.batchMax
      const leased = await store.leaseDeliveries({ destination, holder, limit, forMs: leaseMs })
      if (leased.length === 0) return false
      const batch = send(by, holder, leased).finally(() => {
        batches.delete(batch)
        deps.wake()
      })
      batches.add(batch)
      return leased.length === limit
    },
    mayStart: (by) => batches.size < by.kind.inFlightMax && inFlight.count < inFlightMaxOfReplica,
    isIdle: () => batches.size === 0,
    settled: () => Promise.allSettled(batches),
  }
}
