/**
 * Sends heartbeats to destinations. Destinations are independent: a failing one causes no repeats at others, and a slow
 * one delays no others. A destination gets one heartbeat at a time; of those that fall due in the meantime, it gets
 * only the newest.
 */
import type { HeartbeatData } from '@q/store'
import { within } from '../main/loop.ts'
import { withAttempts, type AttemptOptions } from './attempts.ts'
import type { Failures, MonitorAlert, HeartbeatTarget } from './failures.ts'

export interface HeartbeatDestination {
  readonly name: string
  /** Rejects if the heartbeat was not accepted. */
  send(heartbeat: HeartbeatData): Promise<void>
  /** Receives alerts about the other destinations. */
  alert?(alert: MonitorAlert): Promise<void>
}

export interface Deliveries {
  send(heartbeat: HeartbeatData): void
  /** Alerts every destination except the failing place, once: a lost alert is not repeated. */
  alert(alert: MonitorAlert, failing: HeartbeatTarget): void
  /** Resolves when no heartbeat is in flight. */
  settled(): Promise<void>
}

/** A heartbeat fails if the destination has not answered within this time. */
const answerMsMax = 30_000

export function createDeliveries(
  destinations: readonly HeartbeatDestination[],
  retry: AttemptOptions,
  failures: Failures,
): Deliveries {
  const underWay = new Map<HeartbeatDestination, Promise<void>>()
  let alerting: Promise<void>[] = []
  async function deliver(destination: HeartbeatDestination, heartbeat: HeartbeatData): Promise<void> {
    try {
      await withAttempts(retry, () => sendInTime(destination, heartbeat, retry.signal))
      failures.succeeded(destination)
    } catch (error) {
      if (!retry.signal.aborted) failures.failed(destination, error)
    } finally {
      underWay.delete(destination)
    }
  }
  return {
    send(heartbeat) {
      for (const destination of destinations)
        if (!underWay.has(destination)) underWay.set(destination, deliver(destination, heartbeat))
    },
    alert(alert, failing) {
      const others = destinations.filter((destination) => destination !== failing)
      alerting = others.map(async (destination) => {
        try {
          await destination.alert?.(alert)
        } catch {
          // Lost: the next failures raise no second alert.
        }
      })
    },
    async settled() {
      await Promise.all([...underWay.values(), ...alerting])
    },
  }
}

async function sendInTime(
  destination: HeartbeatDestination,
  heartbeat: HeartbeatData,
  stopping: AbortSignal,
): Promise<void> {
  const sent = await within(
    answerMsMax,
    destination.send(heartbeat).then(() => 'sent'),
    stopping,
  )
  if (sent === undefined) throw new Error(`${destination.name} did not answer in time`)
}
