/** Backstops, every few seconds: runs whose deadline passed, and keys whose free slots nobody handed on. */
import type { Store } from '@q/store'
import { after, atOnce, type Next } from '../loop.ts'

export interface SweepDeps {
  readonly store: Store
  readonly onPromoted: () => void
}

const everyMs = 5_000
const batchMax = 500

export async function sweepTick(deps: SweepDeps): Promise<Next> {
  const expired = await deps.store.expireTaskRuns(batchMax)
  const promoted = await deps.store.sweepGatedKeys(batchMax)
  if (promoted.length > 0) deps.onPromoted()
  return expired.length === batchMax ? atOnce : after(everyMs)
}
