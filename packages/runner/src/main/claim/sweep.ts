/**
 * A periodic backstop, less frequent while it finds nothing. It expires runs whose deadline has passed, promotes runs of
 * keys that have free slots, and opens the gate `task` for runs whose task is published.
 */
import type { Store } from '@q/store'
import { after, atOnce, type Next } from '../loop.ts'

export interface SweepDeps {
  readonly store: Store
  readonly onPromoted: () => void
}

const everyMs = { busy: 5_000, quiet: 12_000 } as const
const batchMax = 500

export async function sweepTick(deps: SweepDeps): Promise<Next> {
  const expired = await deps.store.expireTaskRuns(batchMax)
  const promoted = await deps.store.sweepGatedKeys(batchMax)
  const opened = await deps.store.sweepTaskGate()
  if (promoted.length + opened.length > 0) deps.onPromoted()
  if (expired.length === batchMax || promoted.length >= batchMax) return atOnce
  return after(expired.length + promoted.length + opened.length > 0 ? everyMs.busy : everyMs.quiet)
}
