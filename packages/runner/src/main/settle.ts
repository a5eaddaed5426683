/**
 * Writes what came of a run, once, under its lease. While the database cannot be reached it tries again, until the
 * replica has left: an outcome is never dropped because of the network. An outcome that the database refuses for its data
 * ends the run with a code of its own, so an end is never lost because its text is strange.
 */
import { createBatcher, type Lease, type Outcome, type Settled, type Settlement, type Store } from '@q/store'
import type { Observe } from './events.ts'
import type { Turns } from './turns.ts'
import { untilReached } from './until-reached.ts'

export interface Settlements {
  /** `plain`: nobody waits behind the run. */
  add(settlement: Settlement, plain: boolean): Promise<Settled>
}

export interface SettleDeps {
  readonly settlements: Settlements
  readonly store: Store
  readonly observe: Observe
  /** Aborts when the replica has left: outcomes that could not be written by then are left to other replicas. */
  readonly hasLeft?: AbortSignal
}

const batchMax = 200

/** A plain success goes with the replica's next turn; what that does not settle, and everything else, in batches. */
export function createSettlements(store: Store, turns: Pick<Turns, 'finish'>): Settlements {
  const batches = createBatcher<Settlement, Settled>(
    (settlements) => store.settleTaskRuns(settlements, { skipBusy: true }),
    batchMax,
  )
  return {
    async add(settlement, plain) {
      const { outcome, ...end } = settlement
      const settled =
        plain && outcome.status === 'SUCCEEDED' && (await turns.finish({ ...end, result: outcome.result }))
      return settled ? 'settled' : batches.add(settlement)
    },
  }
}

/** What was really written, and whether it counted. */
export interface Written {
  readonly answer: Exclude<Settled, 'busy' | 'refused'>
  readonly outcome: Outcome
}

export async function settle(deps: SettleDeps, settlement: Settlement, plain: boolean): Promise<Written> {
  let { outcome } = settlement
  let alone = false
  const answer = await untilLeft(deps, async () => {
    const told = { ...settlement, outcome }
    const [single = 'lease-lost'] = alone
      ? await deps.store.settleTaskRuns([told])
      : [await deps.settlements.add(told, plain)]
    if (single === 'refused') outcome = inOtherWords(outcome)
    // Another transaction has locked it: it waits by itself, and does not hold up the batch.
    else if (single === 'busy') alone = true
    else return single
    return undefined
  })
  return { answer, outcome }
}

/** What holds no data of the run's is refused for another reason: that is waited for like a database that is away. */
function inOtherWords(outcome: Outcome): Outcome {
  if (outcome === unstorable) throw new Error('The database refuses every end of this run, whatever is said.')
  return unstorable
}

/** Gives a run back; nothing is answered when its lease was lost already. */
export async function giveBack(deps: SettleDeps, lease: Lease, by: Settlement['by']): Promise<void> {
  const runIds = await untilLeft(deps, () => deps.store.releaseTaskRuns([lease], by))
  deps.observe({ type: 'runs-released', runIds })
}

/** Puts a run off at its own wish. */
export function snooze(deps: SettleDeps, lease: Lease, afterMs: number): ReturnType<Store['snoozeTaskRun']> {
  return untilLeft(deps, () => deps.store.snoozeTaskRun(lease, afterMs))
}

/** Runs that end when the replica has left were counted as left behind: nothing is written for them. */
function untilLeft<T>({ observe, hasLeft }: SettleDeps, write: () => Promise<T | undefined>): Promise<T> {
  const writeUnlessLeft = async () => {
    hasLeft?.throwIfAborted()
    return write()
  }
  return untilReached(observe, writeUnlessLeft, hasLeft)
}

const unstorable: Outcome = {
  status: 'FAILED',
  code: 'INVALID_RESULT',
  detail: 'The database cannot hold the result or the error as jsonb.',
}
