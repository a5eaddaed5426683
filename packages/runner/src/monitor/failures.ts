/**
 * Counts failed heartbeats of each destination, where the database counts as one. The third consecutive failure raises
 * one alert; a success resets the count. The worker continues in any case.
 */
import type { HeartbeatFailure } from '@q/store'
import { errorMessage } from '../output/error-message.ts'
import { alertAfterFailures, keepFailure } from '../main/liveness/kept-failures.ts'
import { redact } from '../output/redact.ts'

export interface MonitorAlert {
  readonly worker_id: string
  /** In ms since 1970. */
  readonly timestamp: number
  /** `database`, or the name of the destination. */
  readonly destination: string
  readonly error: string
  readonly consecutive_failures: number
}

/** A destination, or the database. Two places with one name are counted apart. */
export interface HeartbeatTarget {
  readonly name: string
}

export interface Failures {
  failed(place: HeartbeatTarget, error: unknown): void
  succeeded(place: HeartbeatTarget): void
  /** Records failures that are not recorded yet, and keeps them if `record` rejects. */
  flush(record: (failures: readonly HeartbeatFailure[]) => Promise<void>): Promise<void>
}

export interface FailuresDeps {
  readonly workerId: string
  readonly onAlert: (alert: MonitorAlert, failing: HeartbeatTarget) => void
  readonly nowMs: () => number
}

export function createFailures({ workerId, onAlert, nowMs }: FailuresDeps): Failures {
  const inARow = new Map<HeartbeatTarget, number>()
  let unrecorded: { readonly atMs: number; readonly consecutive: number; readonly error: string }[] = []
  return {
    failed(place, error) {
      const consecutive = (inARow.get(place) ?? 0) + 1
      inARow.set(place, consecutive)
      const text = redact(errorMessage(error))
      unrecorded = keepFailure(unrecorded, { atMs: nowMs(), consecutive, error: `${place.name}: ${text}` })
      if (consecutive !== alertAfterFailures) return
      const timestamp = Date.now()
      const { name: destination } = place
      const alert = { worker_id: workerId, timestamp, destination, error: text, consecutive_failures: consecutive }
      onAlert(alert, place)
    },
    succeeded: (place) => void inARow.delete(place),
    async flush(record) {
      if (unrecorded.length === 0) return
      const now = nowMs()
      const flushed = unrecorded
      await record(flushed.map(({ atMs, ...failure }) => ({ ...failure, agoMs: now - atMs })))
      unrecorded = unrecorded.filter((failure) => !flushed.includes(failure))
    },
  }
}
