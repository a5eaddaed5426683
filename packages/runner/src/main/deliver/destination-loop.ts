/**
 * Sends the reports of one destination. One replica at a time does it, by a duty: so the destination's limit of batches in
 * flight holds for all replicas, and a destination that allows one call at a time gets one. Order does not depend on the duty:
 * the database leases the next report of a run only after the last one was delivered or given up.
 *
 * After failures in a row the loop rests, longer each time, and releases the duty: another replica may have the secret or the
 * network that this one lacks.
 */
import type { Destination, LeasedDelivery, Store } from '@q/store'
import { backoffMs } from '../backoff.ts'
import { after, within, type Next } from '../loop.ts'
import { createDestinationDuty, dutyMs, type DestinationDutyDeps } from './destination-duty.ts'
import { openSender, type OpenSender, type SenderDeps } from './open-sender.ts'
import { createHeartbeatRefresh, type HeartbeatRefreshDeps } from './refresh-heartbeats.ts'
import { sendBatch } from './send-batch.ts'

export interface DestinationLoopDeps extends SenderDeps, DestinationDutyDeps, HeartbeatRefreshDeps {
  readonly store: SenderDeps['store'] &
    DestinationDutyDeps['store'] &
    HeartbeatRefreshDeps['store'] &
    Pick<Store, 'leaseDeliveries' | 'markDeliveries'>
  /** Batches that this replica has in flight, to all destinations. */
  readonly inFlight: { count: number }
  /** Starts the next round. */
  readonly wake: () => void
  readonly open?: (deps: SenderDeps, destination: Destination) => Promise<OpenSender>
  /** How long a sender may take. */
  readonly sendMsMax?: number
}

export interface DestinationLoop {
  tick(): Promise<Next>
  /** Waits a moment for batches in flight, then releases the destination. Call it after the last tick. */
  close(): Promise<void>
}

/** Longer than a sender may take. */
const leaseMs = 60_000
const pollMs = 1_000
const inFlightMaxOfReplica = 16
const rest = { firstMs: 1_000, msMax: 60_000 }
const failuresBeforeRelease = 3
const closeMsMax = 2_000

export function createDestinationLoop(deps: DestinationLoopDeps, destination: Destination): DestinationLoop {
  const { nowMs, inFlight, observe, open = openSender } = deps
  const { name } = destination
  const duty = createDestinationDuty(deps, name)
  const refreshHeartbeats = createHeartbeatRefresh(deps, destination)
  const batches = new Set<Promise<void>>()
  let sender: OpenSender | undefined
  let restsUntilMs = 0
  let failures = 0
  let batchNo = 0

  async function closeSender(): Promise<void> {
    const closing = sender
    sender = undefined
    await closing?.close().catch(() => {})
  }

  function failed(): void {
    restsUntilMs = nowMs() + backoffMs(rest, ++failures)
  }

  async function leaveToOthers(): Promise<void> {
    restsUntilMs = Math.max(restsUntilMs, nowMs() + 1.5 * dutyMs)
    await closeSender()
    await duty.release()
  }

  async function opened(): Promise<OpenSender | undefined> {
    try {
      return (sender ??= await open(deps, destination))
    } catch (error) {
      observe({ type: 'destination-unavailable', destination: name, error })
      failed()
      return undefined
    }
  }

  async function sendInBackground(by: OpenSender, holder: string, leased: readonly LeasedDelivery[]): Promise<void> {
    inFlight.count++
    try {
      const { reached, hung } = await sendBatch({ ...deps, sender: by, destination: name, holder }, leased)
      if (reached) failures = 0
      else failed()
      if (hung && sender === by) await closeSender()
    } catch (error) {
      // Its reports are sent again when their leases have expired.
      observe({ type: 'destination-unavailable', destination: name, error })
    }
    inFlight.count--
  }

  /** Leases one batch and sends it in the background. Returns whether it was full. */
  async function startBatch(by: OpenSender): Promise<boolean> {
    const holder = `${deps.replicaId}/${++batchNo}`
    const limit = by.kind.batchMax
    const leased = await deps.store.leaseDeliveries({ destination: name, holder, limit, forMs: leaseMs })
    if (leased.length === 0) return false
    const batch = sendInBackground(by, holder, leased).finally(() => {
      batches.delete(batch)
      deps.wake()
    })
    batches.add(batch)
    return leased.length === limit
  }

  function mayStart(by: OpenSender): boolean {
    return batches.size < by.kind.inFlightMax && inFlight.count < inFlightMaxOfReplica && nowMs() >= restsUntilMs
  }

  return {
    async tick() {
      if (nowMs() < restsUntilMs) return after(restsUntilMs - nowMs())
      const untilOursMs = await duty.untilOursMs()
      if (untilOursMs !== undefined) {
        await closeSender()
        return after(untilOursMs)
      }
      const by = await opened()
      if (by !== undefined) {
        await refreshHeartbeats()
        while (mayStart(by)) if (!(await startBatch(by))) break
      }
      if ((by === undefined || failures >= failuresBeforeRelease) && batches.size === 0) await leaveToOthers()
      return after(Math.max(pollMs, restsUntilMs - nowMs()))
    },
    async close() {
      // Closing the sender ends what is still in flight; those reports are sent again by another replica.
      await within(closeMsMax, Promise.allSettled(batches))
      await closeSender()
      await duty.release()
    },
  }
}
