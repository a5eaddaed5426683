/** A handle for one run: wait for its result, read its state, follow its progress, cancel it. */
import { ExplainedError } from '@q/schema'
import { asRunId, type CancelAnswer, type RunId, type RunView, type Store } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import { waitLimit } from './poll.ts'
import { follow, runToFollow, type RunProgress } from './progress.ts'
import { remoteError } from './remote-error.ts'
import type { Waits } from './waits.ts'

export interface ResultOptions {
  /** Stop waiting after this much time. The run continues. */
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}

export interface RunHandle<Result> {
  readonly id: RunId
  /** Whether the run already existed (unique key, throttle, debounce or idempotency key). */
  readonly duplicate: boolean
  /** The value that the task returned. Rejects with `RunFailed` if the run ended otherwise, with `WAIT_TIMED_OUT` if it has not ended in time. */
  result(options?: ResultOptions): Promise<Result>
  /** The current state of the run. */
  status(): Promise<RunView>
  /** Yields state, attempt and progress when one of them changes. Polls about once a second; the last value is the final state. */
  progress(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<RunProgress>
  /** Cancels the run: at once if it has not started; otherwise its code is stopped. */
  cancel(): Promise<CancelAnswer>
}

/** A run id, or anything that has one: a handle, a row of a list. */
export type RunReference = string | { readonly id: string }

/** The error of a run that ended without a result. `cause` is the cause of the worker's error, if it had one. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed'
  readonly run: RunView
  /** The error code of the run (docs/errors.md). */
  readonly code: string
  readonly attempts: number
  /** The stack trace of the worker's error, if any. */
  readonly remoteStack: string | undefined

  constructor(run: RunView) {
    // A result that manual SQL wrote may lack all of these.
    const { code = 'RESULT_NOT_AVAILABLE', detail = '', stack } = (run.result ?? {}) as Partial<Record<string, string>>
    const cause = causeOf(run.result)
    super(`Run ${run.id} of ${run.task} ended ${run.status} (${code}): ${detail}`, cause === undefined ? {} : { cause })
    this.run = run
    this.code = code
    this.attempts = run.attempt
    this.remoteStack = stack
  }
}

/** The cause of the error that the task threw. An AggregateError is the cause itself, with its errors. */
function causeOf(result: unknown): Error | undefined {
  const { cause, errors, detail } = Object(result) as Readonly<Record<string, unknown>>
  return remoteError(Array.isArray(errors) ? { name: 'AggregateError', message: detail, cause, errors } : cause)
}

export interface HandleDeps {
  readonly store: Store
  readonly waits: Waits<RunId, RunView>
}

export function createHandle<Result>(deps: HandleDeps, id: RunId, duplicate = false): RunHandle<Result> {
  return {
    id,
    duplicate,
    async result(options = {}) {
      const run = await waitFor(deps.waits, id, options, `Run ${id}`)
      if (run === undefined) throw notFound(id)
      if (run.status !== 'SUCCEEDED') throw new RunFailed(run)
      return run.result as Result
    },
    async status() {
      const [run] = await deps.store.getTaskRuns([id])
      if (run === undefined) throw notFound(id)
      return run
    },
    progress: ({ signal } = {}) =>
      follow(
        deps.waits,
        id,
        signal,
        runToFollow(() => notFound(id)),
      ),
    async cancel() {
      const [answer = 'not-found'] = await deps.store.cancelTaskRuns([id])
      return answer
    },
  }
}

export function runIdOf(run: RunReference): RunId {
  const text = typeof run === 'string' ? run : run.id
  const id = asRunId(text)
  if (id !== undefined) return id
  throw new ExplainedError({
    code: 'RUN_ID_INVALID',
    what: `"${text}" is not the id of a run.`,
    why: 'Run ids are positive integers.',
    fix: 'Use the id that enqueue returned.',
  })
}

/** `what` names the run or workflow in the error text. */
export async function waitFor<Id, View>(
  waits: Waits<Id, View>,
  id: Id,
  { timeout, signal }: ResultOptions,
  what: string,
): Promise<View | undefined> {
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
  using end = waitLimit(timeoutMs, () => timedOut(what, timeoutMs ?? 0, waits.problem()), signal)
  return await waits.until(id, end.signal)
}

function timedOut(what: string, timeoutMs: number, problem: unknown): ExplainedError {
  const isKnown = problem === undefined
  return new ExplainedError({
    code: 'WAIT_TIMED_OUT',
    what: isKnown
      ? `${what} has not ended after ${timeoutMs} ms.`
      : `The state of ${what} is unknown after ${timeoutMs} ms.`,
    why: isKnown
      ? 'It is still waiting or running; only this wait has ended.'
      : `The database did not answer: ${problem instanceof Error ? problem.message : 'no answer'}.`,
    fix: isKnown
      ? 'Wait again, or longer. If it does not start, check with q status that a live replica knows the task.'
      : 'Check that the database can be reached, then wait again.',
    cause: problem,
  })
}

function notFound(id: RunId): ExplainedError {
  return new ExplainedError({
    code: 'RUN_NOT_FOUND',
    what: `There is no run ${id}.`,
    why: 'It was never enqueued in this database, its transaction was rolled back, or it was pruned.',
    fix: 'Check the id and the database.',
  })
}
