/** Handles the wakes that the database sends to this replica. */
import type { Wake } from '@q/store'
import type { Signals } from '../signals.ts'

export interface WakeDeps {
  readonly replicaId: string
  /** The queues and capabilities of this replica. No queues: all. */
  readonly serves: { readonly queues: readonly string[]; readonly capabilities: readonly string[] }
  readonly signals: Pick<
    Signals,
    'runsReady' | 'promoteKey' | 'dueIn' | 'wakeSchedules' | 'operationRequested' | 'destinationsChanged'
  >
  readonly checkForCancels: () => void
  /** Sends the next heartbeat at once: its response contains the drain order. */
  readonly beat: () => void
}

export function handleWake({ replicaId, serves, signals, checkForCancels, beat }: WakeDeps, wake: Wake): void {
  switch (wake.channel) {
    case 'q_available':
      return servesQueue(serves, wake.queue) && wake.requires.every((needed) => serves.capabilities.includes(needed))
        ? signals.runsReady()
        : undefined
    case 'q_ready':
      return servesQueue(serves, wake.queue) ? signals.runsReady() : undefined
    case 'q_gated':
      return signals.promoteKey(wake.key)
    case 'q_due':
      return signals.dueIn(wake.inMs)
    case 'q_cancel':
      return wake.replicaId === replicaId ? checkForCancels() : undefined
    case 'q_drain':
      return wake.replicaId === replicaId ? beat() : undefined
    case 'q_schedule':
      return signals.wakeSchedules()
    case 'q_operation':
      return signals.operationRequested()
    case 'q_destination':
      return signals.destinationsChanged()
    case 'q_outcome':
    case 'q_ended':
      return undefined
  }
}

function servesQueue({ queues }: WakeDeps['serves'], queue: string): boolean {
  return queues.length === 0 || queues.includes(queue)
}
