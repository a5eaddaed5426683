/**
 * Opens gates: `time` for due runs, and `concurrency` for keys that a wake named.
 *
 * The loop sleeps until the next run is due by the database's clock, at most for one poll interval. `dueIn` wakes it for a
 * run that is due earlier: a retry or snooze on this replica, or one that a wake announces.
 */
import type { Store } from '@q/store'
import { after, atOnce, type Next } from '../loop.ts'
import type { Polling } from './polling.ts'

export interface PromoteDeps {
  readonly store: Pick<Store, 'promoteKeys' | 'nextDueInMs' | 'promoteDueTaskRuns'>
  readonly polling: Polling
  readonly nowMs: () => number
  /** Keys that wakes have named since the last round. */
  readonly takeKeys: () => readonly string[]
  readonly onPromoted: () => void
  /** Starts the next round at once. */
  readonly wake: () => void
}

export interface Promoter {
  tick(): Promise<Next>
  /** A run is due in `inMs` milliseconds. */
  dueIn(inMs: number): void
}

const batchMax = 500
/** How soon to look again for due runs that another transaction has locked. */
const lockedMs = 100

export function createPromoter(deps: PromoteDeps): Promoter {
  /** When the next round begins. Infinite during a round, because that round may miss a run that becomes due. */
  let nextMs = Number.POSITIVE_INFINITY
  return {
    async tick() {
      nextMs = Number.POSITIVE_INFINITY
      const next = await promoteRound(deps)
      nextMs = deps.nowMs() + next.afterMs
      return next
    },
    dueIn(inMs) {
      if (deps.nowMs() + inMs < nextMs) deps.wake()
    },
  }
}

async function promoteRound({ store, takeKeys, onPromoted, polling }: PromoteDeps): Promise<Next> {
  const keyed = await store.promoteKeys(takeKeys())
  if (keyed.length > 0) onPromoted()
  const dueInMs = await store.nextDueInMs()
  if (dueInMs === undefined || dueInMs > 0)
    return after(Math.min(dueInMs ?? Number.POSITIVE_INFINITY, polling.nextMs()))
  polling.found()
  const { looked } = await store.promoteDueTaskRuns(batchMax)
  // Even if another replica promoted them: both can claim them.
  onPromoted()
  return looked === 0 ? after(lockedMs) : atOnce
}
