/**
 * Opens gates: `time`, when a run's hour comes (it sleeps until then, at most one poll), and `concurrency` for keys that
 * a wake named.
 */
import type { Store } from '@q/store'
import { after, atOnce, type Next } from '../loop.ts'

export interface PromoteDeps {
  readonly store: Store
  readonly pollEveryMs: number
  /** Keys that wakes have named since the last round. */
  readonly takeKeys: () => readonly string[]
  readonly onPromoted: () => void
}

const batchMax = 500

export async function promoteTick(deps: PromoteDeps): Promise<Next> {
  const keyed = await deps.store.promoteKeys(deps.takeKeys())
  const { ids, looked } = await deps.store.promoteDueTaskRuns(batchMax)
  if (keyed.length + ids.length > 0) deps.onPromoted()
  if (looked === batchMax) return atOnce
  return after(Math.min((await deps.store.nextDueInMs()) ?? deps.pollEveryMs, deps.pollEveryMs))
}
