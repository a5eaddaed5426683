/**
 * Writes the outcome of a run under its lease. A plain success is sent with the next exchange (claim/exchange.ts);
 * every other outcome is written here, in batches. While the database is unreachable, the write is retried until the
 * replica has left. If the database rejects the data of an outcome, the run fails with INVALID_RESULT instead, so the
 * end is not lost.
 */
import { createBatcher, type Lease, type Outcome, type SettleAnswer, type Settlement, type Store } from '@q/store'
import type { Observe } from '../events.ts'
import type { ExchangeBuffer } from '../claim/exchange-buffer.ts'
import { retryUntilStored } from './retry-until-stored.ts'

export interface Settlements {
  /** `plain`: the run is not a step and has no concurrency key, so its end affects no other run. */
  add(settlement: Settlement, plain: boolean): Promise<SettleAnswer>
}

export interface SettleDeps {
  readonly settlements: Settlements
  readonly store: Store
  readonly observe: Observe
  /** Aborts when the replica has left. Other replicas recover the runs whose outcome was not written by then. */
  readonly hasLeft?: AbortSignal
}

const batchMax = 200

/** Sends a plain success with the next exchange. Other outcomes, and successes that the exchange did not settle, go in batches. */
export function createSettlements(store: Store, exchangeBuffer: Pick<ExchangeBuffer, 'finish'>): Settlements {
  const batches = createBatcher<Settlement, SettleAnswer>(
    (settlements) => store.settleTaskRuns(settlements, { skipBusy: true }),
    batchMax,
  )
  return {
    async add(settlement, plain) {
      const { outcome, ...end } = settlement
      const settled =
        plain && outcome.status === 'SUCCEEDED' && (await exchangeBuffer.finish({ ...end, result: outcome.result }))
      return settled ? 'settled' : batches.add(settlement)
    },
  }
}

/** The outcome that was written, and whether the database accepted it. */
export interface SettledOutcome {
  readonly answer: Exclude<SettleAnswer, 'busy' | 'refused'>
  readonly outcome: Outcome
}

export async function settle(deps: SettleDeps, settlement: Settlement, plain: boolean): Promise<SettledOutcome> {
  let { outcome } = settlement
  let alone = false
  const answer = await untilLeft(deps, async () => {
    const current = { ...settlement, outcome }
    const [single = 'lease-lost'] = alone
      ? await deps.store.settleTaskRuns([current])
      : [await deps.settlements.add(current, plain)]
    if (single === 'refused') outcome = storableOutcome(outcome)
    // Another transaction has locked the run: its own statement waits for the lock, and the batch does not.
    else if (single === 'busy') alone = true
    else return single
    return undefined
  })
  return { answer, outcome }
}

/** Replaces an outcome whose data was rejected. If the replacement is rejected too, the data is not the cause, and the write is retried. */
function storableOutcome(outcome: Outcome): Outcome {
  if (outcome === unstorable) throw new Error('The database rejects every outcome of this run.')
  return unstorable
}

/** Releases a run; has no effect if the lease is lost. */
export async function releaseRun(deps: SettleDeps, lease: Lease, by: Settlement['by']): Promise<void> {
  const runIds = await untilLeft(deps, () => deps.store.releaseTaskRuns([lease], by))
  deps.observe({ type: 'runs-released', runIds })
}

/** Delays a run at the request of its code. */
export function snooze(
  deps: SettleDeps,
  lease: Lease,
  afterMs: number,
  tookMs: number,
): ReturnType<Store['snoozeTaskRun']> {
  return untilLeft(deps, () => deps.store.snoozeTaskRun(lease, afterMs, tookMs))
}

/** Retries until the replica has left. A run that ends later was already counted as left behind, so nothing is written. */
function untilLeft<T>({ observe, hasLeft }: SettleDeps, write: () => Promise<T | undefined>): Promise<T> {
  const writeUnlessLeft = async () => {
    hasLeft?.throwIfAborted()
    return write()
  }
  return retryUntilStored(observe, writeUnlessLeft, hasLeft)
}

const unstorable: Outcome = {
  status: 'FAILED',
  code: 'INVALID_RESULT',
  detail: 'The database cannot hold the result or the error as jsonb.',
}
