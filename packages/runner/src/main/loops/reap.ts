/**
 * Recovers the runs of replicas that died: any replica may, and two at once do no harm. Also at boot; then only holders
 * that were never alive are judged, because a replica that has just come has no eyes for how long others were silent.
 */
import type { Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { Observe } from '../events.ts'

export interface ReapDeps {
  readonly store: Store
  readonly replicaId: string
  readonly checkEveryMs: number
  /** How long our own beats have been good. */
  readonly trustMs: () => number
  readonly observe: Observe
  readonly onRecovered: () => void
}

export async function reapTick(deps: ReapDeps): Promise<Next> {
  const { ids } = await deps.store.reap({
    by: deps.replicaId,
    causes: ['never-alive', 'replica-beat'],
    thresholdMsMax: deps.trustMs(),
  })
  if (ids.length > 0) {
    deps.observe({ type: 'runs-recovered', runIds: ids })
    deps.onRecovered()
  }
  return after(deps.checkEveryMs)
}
