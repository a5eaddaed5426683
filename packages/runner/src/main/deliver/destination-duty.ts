/** The duty of sending to one destination: one replica at a time holds it, and renews it while it sends. */
import type { Store } from '@q/store'

export interface DestinationDutyDeps {
  readonly store: Pick<Store, 'takeDuty' | 'releaseDuty'>
  readonly replicaId: string
  readonly nowMs: () => number
}

export interface DestinationDuty {
  /** Undefined: this replica has it. Otherwise when to ask again. */
  untilOursMs(): Promise<number | undefined>
  release(): Promise<void>
}

/** How long the other replicas wait if the holder dies. */
export const dutyMs = 10_000
const renewEveryMs = 3_000
const jitterMs = 1_000

export function createDestinationDuty(deps: DestinationDutyDeps, destination: string): DestinationDuty {
  const { store, nowMs } = deps
  const duty = { name: `deliver ${destination}`, holder: deps.replicaId }
  let renewedMs = Number.NEGATIVE_INFINITY
  return {
    async untilOursMs() {
      if (nowMs() - renewedMs < renewEveryMs) return undefined
      const { mine, untilInMs } = await store.takeDuty({ ...duty, forMs: dutyMs })
      renewedMs = mine ? nowMs() : Number.NEGATIVE_INFINITY
      return mine ? undefined : untilInMs + Math.random() * jitterMs
    },
    async release() {
      renewedMs = Number.NEGATIVE_INFINITY
      await store.releaseDuty(duty)
    },
  }
}
