/**
 * From a call to a durable run: check, find its lane, send.
 *
 * Calls that come while a statement is in flight go with the next one, together; nothing waits when nothing is in
 * flight. One that the database or the store refuses fails alone: the others of its batch are sent without it. Three
 * kinds are sent alone: runs of a transaction, runs of a batch that the caller made, and runs that have a key, or whose task
 * may give them one. A run with a key may wait for another open transaction, and must not delay others.
 */
import { ExplainedError, isExplained } from '@q/schema'
import {
  createBatcher,
  createTurns,
  dueInMs,
  enqueueTaskRuns,
  isRefusal,
  type Db,
  type EnqueuedRun,
  type NewRun,
  type Store,
} from '@q/store'
import { runSettings, windowSettings } from '@q/task'
import { explained, type Explain } from './explain.ts'
import { settingsOf, type RunOptions } from './enqueue-options.ts'
import { requireFit } from './payload-check.ts'
import type { Published } from './published.ts'
import { storeIn, type TransactionHandle } from './transaction.ts'
import type { Wakes } from './wakes.ts'
import { withWindow } from './windows.ts'

export interface Call {
  readonly task: string
  readonly payload: unknown
  readonly options: RunOptions
}

export interface Enqueue {
  one(call: Call, tx: TransactionHandle | undefined): Promise<EnqueuedRun>
  /** All or none; answers in the order asked. */
  many(calls: readonly Call[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]>
}

export interface EnqueueDeps {
  readonly store: Store
  readonly published: Published
  readonly wakes: Wakes
  readonly explain: Explain
}

const batchMax = 1_000

interface Prepared {
  readonly run: NewRun
  readonly queueName: string
}

export function createEnqueue({ store, published, wakes, explain }: EnqueueDeps): Enqueue {
  const together = createBatcher<NewRun, Answer>((runs) => sendTogether(store, runs), batchMax)

  async function prepare({ task, payload, options }: Call, within?: Db): Promise<Prepared> {
    const settings = settingsOf(options)
    const { lane, queueName, options: data, check } = await published.find(task, within)
    await requireFit(task, payload, check)
    const withOwnWindow = withWindow(data, options)
    const ofTask =
      lane === undefined
        ? windowSettings(withOwnWindow, payload)
        : { lane, ...runSettings(task, withOwnWindow, payload) }
    return { queueName, run: { task, payload, ...ofTask, ...settings } }
  }

  /** Inside a transaction the database does it, with the commit. */
  function wake(prepared: readonly Prepared[], enqueued: readonly EnqueuedRun[]): void {
    const ready = prepared.filter((_, place) => enqueued[place]?.status === 'AVAILABLE')
    for (const queue of new Set(ready.map(({ queueName }) => queueName))) wakes.send(queue)
    const now = new Date()
    const delays = prepared.flatMap(({ run }, place) =>
      enqueued[place]?.status === 'PENDING' ? (dueInMs(run, now) ?? []) : [],
    )
    if (delays.length > 0) wakes.sendDue(delays.reduce((least, delay) => Math.min(least, delay)))
  }

  async function many(calls: readonly Call[], tx: TransactionHandle | undefined): Promise<EnqueuedRun[]> {
    if (calls.length === 0) return []
    const db = tx === undefined ? undefined : storeIn(tx)
    const prepared: Prepared[] = []
    for (const [place, call] of calls.entries()) {
      prepared.push(await prepare(call, db).catch(placed(place, calls.length)))
    }
    const runs = prepared.map(({ run }) => run)
    if (tx !== undefined && db !== undefined) return inTurn(tx, () => enqueueTaskRuns(db, runs))
    const enqueued = await store.enqueueTaskRuns(runs)
    wake(prepared, enqueued)
    return enqueued
  }

  async function one(call: Call, tx: TransactionHandle | undefined): Promise<EnqueuedRun> {
    if (tx !== undefined) return only(await many([call], tx))
    const prepared = await prepare(call)
    const { run } = prepared
    const enqueued =
      run.lane !== undefined && (run.uniqueKey ?? run.throttle ?? run.debounce) === undefined
        ? valueOf(await together.add(run))
        : only(await store.enqueueTaskRuns([run]))
    wake([prepared], [enqueued])
    return enqueued
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
async function sendTogether(store: Store, runs: readonly NewRun[]): Promise<Answer[]> {
  try {
    return (await store.enqueueTaskRuns(runs)).map((enqueued) => ({ enqueued }))
  } catch (error) {
    const wroteNothing = isExplained(error) || isRefusal(error)
    if (runs.length === 1 || !wroteNothing) return runs.map(() => ({ refused: error }))
    const middle = Math.ceil(runs.length / 2)
    return [...(await sendTogether(store, runs.slice(0, middle))), ...(await sendTogether(store, runs.slice(middle)))]
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
