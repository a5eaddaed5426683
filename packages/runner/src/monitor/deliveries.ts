/**
 * Sends heartbeats to destinations. Each destination is on its own: its failures repeat nothing elsewhere, and a slow one
 * delays none. A destination gets one heartbeat at a time; one that falls due in the meantime is replaced by the next, which
 * has newer facts.
 */
import type { HeartbeatData } from '@q/store'
import { within } from '../main/loop.ts'
import { withAttempts, type AttemptOptions } from './attempts.ts'
import type { Failures, HeartbeatAlert } from './failures.ts'

export interface HeartbeatDestination {
  readonly name: string
  /** Rejects if the heartbeat was not accepted. */
  send(heartbeat: HeartbeatData): Promise<void>
  /** Gets alerts about other places. */
  alert?(alert: HeartbeatAlert): Promise<void>
}

export interface Deliveries {
  send(heartbeat: HeartbeatData): void
  /** Tells every destination but the failing one, once: an alert that is lost is not repeated. */
  alert(alert: HeartbeatAlert): void
  /** Resolves when no heartbeat is on its way. */
  settled(): Promise<void>
}

/** A destination that does not answer for so long has failed. */
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
      failures.succeeded(destination.name)
    } catch (error) {
      if (!retry.signal.aborted) failures.failed(destination.name, error)
    } finally {
      underWay.delete(destination)
    }
  }
  return {
    send(heartbeat) {
      for (const destination of destinations)
        if (!underWay.has(destination)) underWay.set(destination, deliver(destination, heartbeat))
    },
    alert(alert) {
      const others = destinations.filter(({ name }) => name !== alert.destination)
      alerting = others.map((destination) => destination.alert?.(alert).catch(() => {}) ?? Promise.resolve())
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
