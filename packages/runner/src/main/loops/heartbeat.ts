/** The replica's sign of life, from the main thread. A failed one is retried soon by the loop and is never fatal. */
import type { Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { Slots } from '../slots.ts'
import type { Trust } from '../trust.ts'
import type { Vitals } from '../vitals.ts'

export interface HeartbeatDeps {
  readonly store: Store
  readonly slots: Slots
  readonly vitals: Vitals
  readonly trust: Trust
  readonly nowMs: () => number
  readonly replicaId: string
  readonly beatEveryMs: number
  /** Somebody asked this replica, through the database, to drain. */
  readonly onDrainAsked: () => void
}

export async function heartbeatTick(deps: HeartbeatDeps): Promise<Next> {
  const beat = deps.store.upsertReplicaHeartbeat(deps.replicaId, {
    ...deps.vitals.read(),
    activeRuns: deps.slots.busy(),
    freeSlots: deps.slots.free(),
  })
  const { draining } = await beat.catch((error: unknown) => {
    deps.trust.beatFailed()
    throw error
  })
  deps.trust.beatAccepted(deps.nowMs())
  if (draining) deps.onDrainAsked()
  return after(deps.beatEveryMs)
}
