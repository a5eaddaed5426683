/**
 * Sends the reports of one destination. A duty lets one replica at a time do this, so the destination's limit of
 * batches in flight holds across all replicas. Order does not depend on the duty: the database leases the next report
 * of a run only after the previous one was delivered or given up.
 *
 * After consecutive failures the loop pauses, longer each time, and releases the duty: another replica may have the
 * secret or the network access that this one lacks.
 */
import type { Destination } from '@q/store'
import { backoffMs } from '../backoff.ts'
import { after, within, type Next } from '../loop.ts'
import { createBatches, type BatchesDeps } from './batches.ts'
import { createDestinationDuty, dutyMs, type DestinationDutyDeps } from './destination-duty.ts'
import { openSender, type OpenSender, type SenderDeps } from './open-sender.ts'
import { createHeartbeatRefresh, type HeartbeatRefreshDeps } from './refresh-heartbeats.ts'

export interface DestinationLoopDeps extends SenderDeps, DestinationDutyDeps, HeartbeatRefreshDeps, BatchesDeps {
  readonly store: SenderDeps['store'] &
    DestinationDutyDeps['store'] &
    HeartbeatRefreshDeps['store'] &
    BatchesDeps['store']
  readonly open?: (deps: SenderDeps, destination: Destination) => Promise<OpenSender>
}

export interface DestinationLoop {
  tick(): Promise<Next>
  /** Waits briefly for batches in flight, then releases the duty. Call it after the last tick. */
  close(): Promise<void>
}

/** Times the number of looks in a row that found no report. */
const pollMs = { step: 1_000, max: 3_000 }
const rest = { firstMs: 1_000, msMax: 60_000 }
const failuresBeforeRelease = 3
const closeMsMax = 2_000

export function createDestinationLoop(deps: DestinationLoopDeps, destination: Destination): DestinationLoop {
  const { nowMs, observe, open = openSender } = deps
  const { name } = destination
  const duty = createDestinationDuty(deps, name)
  const refreshHeartbeats = createHeartbeatRefresh(deps, destination)
  const batches = createBatches(deps, name, async (by, { reached, hung }) => {
    if (reached) failures = 0
    else failed()
    if (hung && sender === by) await closeSender()
  })
  let sender: OpenSender | undefined
  let restsUntilMs = 0
  let failures = 0
  let emptyLooks = 0

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
        while (batches.mayStart(by) && nowMs() >= restsUntilMs) if (!(await batches.start(by))) break
        emptyLooks = batches.isIdle() ? emptyLooks + 1 : 0
      }
      if ((by === undefined || failures >= failuresBeforeRelease) && batches.isIdle()) await leaveToOthers()
      const idleMs = Math.min(pollMs.step * Math.max(1, emptyLooks), pollMs.max)
      return after(Math.max(idleMs, restsUntilMs - nowMs()))
    },
    async close() {
      // Closing the sender aborts batches still in flight; another replica sends their reports again.
      await within(closeMsMax, batches.settled())
      await closeSender()
      await duty.release()
    },
  }
}
