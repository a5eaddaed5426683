/**
 * Executes requested operations on many runs, one step at a time (store, operations/step.ts). Any replica may execute them:
 * the lease of an operation keeps it with one replica, and the others return when that lease would expire. So an operation
 * continues within seconds of the death of its replica, after the last committed step.
 */
import type { Store } from '@q/store'
import type { Observe } from '../events.ts'
import { after, type Next } from '../loop.ts'

export interface OperationsDeps {
  readonly store: Pick<Store, 'stepOperations'>
  readonly replicaId: string
  readonly observe: Observe
  readonly nowMs: () => number
}

/** For requests whose wake was lost. */
const lookEveryMs = 60_000
/** While another replica executes a step. */
const lookAgainMsMin = 1_000
const leaseMs = 10_000
const jitterMs = 500
/** At most a fifth of the time: runs that are ready go first. */
const rest = { factor: 4, msMin: 50 } as const

export async function operationsTick({ store, replicaId, observe, nowMs }: OperationsDeps): Promise<Next> {
  const begunMs = nowMs()
  const { worked, leasedForMs } = await store.stepOperations({ holder: replicaId, forMs: leaseMs })
  if (worked === undefined) {
    const untilFree = Math.max(lookAgainMsMin, leasedForMs ?? lookEveryMs) + Math.random() * jitterMs
    return after(Math.min(lookEveryMs, untilFree))
  }
  const { id, kind, askedBy, state, looked, changed } = worked
  if (worked.finishedAt !== null) observe({ type: 'operation-ended', id, kind, askedBy, state, looked, changed })
  return after(Math.max(rest.msMin, rest.factor * (nowMs() - begunMs)))
}
