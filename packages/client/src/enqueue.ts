/**
 * Makes a call durable: check it, find its lane, send it.
 *
 * Calls that arrive while a statement is in flight share the next one; with none in flight a call is sent at once. If the
 * database or the store rejects a call, only that call fails: the rest of its batch is sent without it. Three kinds are sent
 * in a statement of their own: runs in the caller's transaction, runs of `enqueueMany`, and runs that have a key or whose task may
 * give them one. A run with a key can block on another open transaction and must not delay other calls.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { createBatcher, createSerializer, enqueueTaskRuns, isRefusal, type EnqueuedRun, type NewRun } from '@q/store'
import { isTracing, traceEnqueue } from '@q/task/tracing'
import { explained, type Explain } from './explain.ts'
import { createPreparation, type TaskCall } from './prepare-call.ts'
import type { TaskRouting } from './task-routing.ts'
import { storeIn, type TransactionHandle } from './transaction.ts'

export interface Enqueue {
  one(call: TaskCall, tx: TransactionHandle | undefined): Promise<EnqueuedRun>
  /** Enqueues all of the calls or none; returns the runs in the order of the calls. */
  many(calls: readonly TaskCall[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]>
}

export interface EnqueueDeps {
  /** Enqueues all of the runs or none; returns them in the same order. */
  readonly insert: Insert
  readonly routing: TaskRouting
  readonly explain: Explain
}

type Insert = (runs: readonly NewRun[]) => Promise<EnqueuedRun[]>

const batchMax = 1_000

export function createEnqueue({ insert, routing, explain }: EnqueueDeps): Enqueue {
  const together = createBatcher<NewRun, Answer>((runs) => sendTogether(insert, runs), batchMax)

  async function many(calls: readonly TaskCall[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]> {
    if (calls.length === 0) return []
    const db = tx === undefined ? undefined : storeIn(tx)
    const prepare = createPreparation(routing, db)
    const runs: NewRun[] = []
    for (const [index, call] of calls.entries()) {
      runs.push(await prepare(call).catch(withRunNumber(index, calls.length)))
    }
    return tx === undefined || db === undefined ? insert(runs) : serialize(tx, () => enqueueTaskRuns(db, runs))
  }

  async function one(call: TaskCall, tx: TransactionHandle | undefined): Promise<EnqueuedRun> {
    if (tx !== undefined) return only(await many([call], tx))
    const run = await createPreparation(routing)(call)
    const mayWait = run.lane === undefined || (run.uniqueKey ?? run.throttle ?? run.debounce) !== undefined
    return mayWait ? only(await insert([run])) : valueOf(await together.add(run))
  }

  return {
    one: (call, tx) =>
      explained(isTracing() ? traced([call], (calls) => one(only(calls), tx)) : one(call, tx), explain, tx),
    many: (calls, tx) =>
      explained(isTracing() ? traced(calls, (some) => many(some, tx)) : many(calls, tx), explain, tx),
  }
}

/** Sends calls within a span, whose context is stored with their runs. A call that has a context of its own keeps it. */
function traced<T extends EnqueuedRun | EnqueuedRun[]>(
  calls: readonly TaskCall[],
  send: (calls: readonly TaskCall[]) => Promise<T>,
): Promise<T> {
  if (calls.length === 0) return send(calls)
  const tasks = new Set(calls.map(({ task }) => task))
  const about = { destination: [...tasks].slice(0, 3).join(' '), count: calls.length }
  const withTrace = (trace: string) => calls.map((call) => ({ ...call, options: { trace, ...call.options } }))
  return traceEnqueue(
    about,
    (trace) => send(trace === undefined ? calls : withTrace(trace)),
    (sent) => (Array.isArray(sent) ? undefined : sent.id),
  )
}

/** Within one transaction no lock separates concurrent calls, so the statements of one call run before those of the next. */
const serialize = createSerializer()

type Answer = { readonly enqueued: EnqueuedRun } | { readonly refused: unknown }

/** Halves a rejected batch until each bad call is alone. A rejected statement has written nothing. */
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

/** Adds the index of the call to the error. */
function withRunNumber(index: number, count: number): (error: unknown) => never {
  return (error) => {
    if (count === 1 || !isExplained(error)) throw error
    const { code, message: what, why, fix } = error
    throw new ExplainedError({ code, what, why: `run ${index + 1} of ${count}: ${why}`, fix, cause: error })
  }
}

function valueOf(answer: Answer): EnqueuedRun {
  if ('enqueued' in answer) return answer.enqueued
  throw answer.refused
}

function only<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error('The database accepted a run and named none.')
  return one
}
