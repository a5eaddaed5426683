/**
 * Backstops, every few seconds, more rarely while there is nothing to do: runs whose deadline passed, keys with free slots
 * that no settling run handed on, and runs that still wait at the gate `task` although their task is published.
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
