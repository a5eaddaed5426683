/**
 * Writes what came of a run, once, under its lease. While the database cannot be reached it tries again: an outcome is
 * never dropped because of the network. An outcome that the database refuses for its data ends the run with a code of
 * its own, so an end is never lost because its text is strange.
 */
import type { Lease, Outcome, Settled, Settlement, Store } from '@q/store'
import type { Batcher } from './batcher.ts'
import { createBatcher } from './batcher.ts'
import type { Observe } from './events.ts'
import { pause } from './loop.ts'

export type Settlements = Batcher<Settlement, Settled>

export interface SettleDeps {
  readonly settlements: Settlements
  readonly store: Store
  readonly observe: Observe
}

const batchMax = 200
const retryMs = { first: 200, max: 5_000 }

export function createSettlements(store: Store): Settlements {
  return createBatcher((settlements) => store.settleTaskRuns(settlements, { skipBusy: true }), batchMax)
}

/** What was really written, and whether it counted. */
export async function settle(deps: SettleDeps, settlement: Settlement): Promise<{ answer: Settled; outcome: Outcome }> {
  let current = settlement
  let alone = false
  const answer = await untilReached(deps.observe, async () => {
    try {
      const [single] = alone ? await deps.store.settleTaskRuns([current]) : [await deps.settlements.add(current)]
      if (single !== 'busy') return single ?? 'lease-lost'
      // Somebody has locked it: it waits by itself, and does not hold up the batch.
      alone = true
      return undefined
    } catch (error) {
      // Some row of the batch was refused for its data: each goes alone, and a refused one ends as INVALID_RESULT.
      if (!isRefused(error)) throw error
      if (alone) current = { ...settlement, outcome: unstorable }
      alone = true
      return undefined
    }
  })
  return { answer, outcome: current.outcome }
}

/** Gives a run back; nothing is answered when its lease was lost already. */
export async function giveBack(deps: SettleDeps, lease: Lease, by: Settlement['by']): Promise<void> {
  const runIds = await untilReached(deps.observe, () => deps.store.releaseTaskRuns([lease], by))
  deps.observe({ type: 'runs-released', runIds })
}

const unstorable: Outcome = {
  status: 'FAILED',
  code: 'INVALID_RESULT',
  detail: 'The database cannot hold the result or the error as jsonb.',
}

/** Again at once when undefined, again after a while when the database cannot be reached. */
async function untilReached<T>(observe: Observe, write: () => Promise<T | undefined>): Promise<T> {
  for (let failures = 0; ;) {
    try {
      const answer = await write()
      if (answer !== undefined) return answer
    } catch (error) {
      const retryInMs = Math.min(retryMs.max, retryMs.first * 2 ** failures++)
      observe({ type: 'settle-failed', error, retryInMs })
      await pause(retryInMs)
    }
  }
}

/** Classes 22, 23 and 54 of PostgreSQL's codes: what was sent, not the world. */
function isRefused(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^(22|23|54)...$/.test(code)
}
