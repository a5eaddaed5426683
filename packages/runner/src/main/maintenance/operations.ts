/**
 * Executes operations on many runs that people requested, a step at a time (store, operations/step.ts). Any replica may: the
 * lease of an operation keeps it with one, and the others come back when that lease would end. So an operation goes on
 * seconds after its replica died, where the last committed step ended.
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
/** While another replica makes a step. */
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
