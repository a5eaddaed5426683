/**
 * Writes the outcome of a run, once, under its lease. While the database cannot be reached it tries again: an outcome
 * is never dropped because of the network. Text that the database cannot hold ends the run with a code of its own.
 */
import type { Outcome, Settled, Settlement, Store } from '@q/store'
import type { Batcher } from './batcher.ts'
import { createBatcher } from './batcher.ts'
import type { Observe } from './events.ts'
import { pause } from './loop.ts'

export type Settlements = Batcher<Settlement, Settled>

const batchMax = 200
const retryMs = { first: 200, max: 5_000 }

export function createSettlements(store: Store): Settlements {
  return createBatcher((settlements) => store.settleTaskRuns(settlements), batchMax)
}

export async function settle(
  deps: { readonly settlements: Settlements; readonly store: Store; readonly observe: Observe },
  settlement: Settlement,
): Promise<Settled> {
  for (let failures = 0; ; failures++) {
    try {
      return await deps.settlements.add(settlement)
    } catch (error) {
      if (isDataError(error)) return settleAlone(deps.store, settlement)
      const retryInMs = Math.min(retryMs.max, retryMs.first * 2 ** failures)
      deps.observe({ type: 'settle-failed', error, retryInMs })
      await pause(retryInMs)
    }
  }
}

/** Some row of the batch was refused for its data: each goes alone, and a refused one ends as INVALID_RESULT. */
async function settleAlone(store: Store, settlement: Settlement): Promise<Settled> {
  try {
    return await oneOf(store, settlement)
  } catch (error) {
    if (!isDataError(error)) throw error
    const outcome: Outcome = {
      status: 'FAILED',
      code: 'INVALID_RESULT',
      detail: 'The database cannot hold the result or the error as jsonb.',
    }
    return oneOf(store, { ...settlement, outcome })
  }
}

async function oneOf(store: Store, settlement: Settlement): Promise<Settled> {
  return (await store.settleTaskRuns([settlement]))[0] ?? 'lease-lost'
}

/** Class 22 of PostgreSQL's codes: the data, not the world. */
function isDataError(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && code.startsWith('22')
}
