/** Opens the gate `time` when its hour comes: sleeps until the next run is due, at most one poll. */
import type { Store } from '@q/store'
import { after, atOnce, type Next } from '../loop.ts'

export interface PromoteDeps {
  readonly store: Store
  readonly pollEveryMs: number
  readonly onPromoted: () => void
}

const batchMax = 500

export async function promoteTick(deps: PromoteDeps): Promise<Next> {
  const { ids, looked } = await deps.store.promoteDueTaskRuns(batchMax)
  if (ids.length > 0) deps.onPromoted()
  if (looked === batchMax) return atOnce
  return after(Math.min((await deps.store.nextDueInMs()) ?? deps.pollEveryMs, deps.pollEveryMs))
}
