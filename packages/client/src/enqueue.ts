/**
 * From a call to a durable run: check, find its lane, send.
 *
 * Calls that come while a statement is in flight go with the next one, together; nothing waits when nothing is in
 * flight. One that the database or the store refuses fails alone: the others of its batch are sent without it. Three
 * kinds are sent alone: runs of a transaction, runs of a batch that the caller made, and runs that have a key, or whose task
 * may give them one. A run with a key may wait for another open transaction, and must not delay others.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { createBatcher, createTurns, enqueueTaskRuns, isRefusal, type EnqueuedRun, type NewRun } from '@q/store'
import { explained, type Explain } from './explain.ts'
import { createPreparation, type Call } from './prepare-call.ts'
import type { Published } from './published.ts'
import { storeIn, type TransactionHandle } from './transaction.ts'

export interface Enqueue {
  one(call: Call, tx: TransactionHandle | undefined): Promise<EnqueuedRun>
  /** All or none; answers in the order asked. */
  many(calls: readonly Call[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]>
}

export interface EnqueueDeps {
  /** Makes runs durable, all or none; answers in the order asked. */
  readonly insert: Insert
  readonly published: Published
  readonly explain: Explain
}

type Insert = (runs: readonly NewRun[]) => Promise<EnqueuedRun[]>

const batchMax = 1_000

export function createEnqueue({ insert, published, explain }: EnqueueDeps): Enqueue {
  const together = createBatcher<NewRun, Answer>((runs) => sendTogether(insert, runs), batchMax)

  async function many(calls: readonly Call[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]> {
    if (calls.length === 0) return []
    const db = tx === undefined ? undefined : storeIn(tx)
    const prepare = createPreparation(published, db)
    const runs: NewRun[] = []
    for (const [place, call] of calls.entries()) {
      runs.push(await prepare(call).catch(placed(place, calls.length)))
    }
    return tx === undefined || db === undefined ? insert(runs) : inTurn(tx, () => enqueueTaskRuns(db, runs))
  }

  async function one(call: Call, tx: TransactionHandle | undefined): Promise<EnqueuedRun> {
    if (tx !== undefined) return only(await many([call], tx))
    const run = await createPreparation(published)(call)
    const mayWait = run.lane === undefined || (run.uniqueKey ?? run.throttle ?? run.debounce) !== undefined
    return mayWait ? only(await insert([run])) : valueOf(await together.add(run))
  }

  return {
    one: (call, tx) => explained(one(call, tx), explain, tx),
    many: (calls, tx) => explained(many(calls, tx), explain, tx),
  }
}

/** In one transaction no lock keeps apart what is asked for at once: between two statements of one comes none of another. */
const inTurn = createTurns()

type Answer = { readonly enqueued: EnqueuedRun } | { readonly refused: unknown }

/** Halved until the bad ones are alone; only after a refusal, which has written nothing. */
async function sendTogether(insert: Insert, runs: readonly NewRun[]): Promise<Answer[]> {
  try {
    return (await insert(runs)).map((enqueued) => ({ enqueued }))
  } catch (error) {
    const wroteNothing = isExplained(error) || isRefusal(error)
    if (runs.length === 1 || !wroteNothing) return runs.map(() => ({ refused: error }))
    const middle = Math.ceil(runs.length / 2)
    return [...(await sendTogether(insert, runs.slice(0, middle))), ...(await sendTogether(insert, runs.slice(middle)))]
  }
}

/** Which of the calls it was. */
function placed(place: number, count: number): (error: unknown) => never {
  return (error) => {
    if (count === 1 || !isExplained(error)) throw error
    const { code, message: what, why, fix } = error
    throw new ExplainedError({ code, what, why: `run ${place + 1} of ${count}: ${why}`, fix, cause: error })
  }
}

function valueOf(answer: Answer): EnqueuedRun {
  if ('enqueued' in answer) return answer.enqueued
  throw answer.refused
}

function only([run]: readonly EnqueuedRun[]): EnqueuedRun {
  if (run === undefined) throw new Error('The database accepted a run and named none.')
  return run
}
