/** A run, as its producer sees it. */
import { ExplainedError } from '@q/schema'
import { asRunId, type CancelAnswer, type RunId, type RunView, type Store } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import { limit } from './poll.ts'
import { follow, followedRun, type RunProgress } from './progress.ts'
import { remoteError } from './remote-error.ts'
import type { Waits } from './waits.ts'

export interface ResultOptions {
  /** Give up waiting after this much time; the run goes on. */
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}

export interface RunHandle<Result> {
  readonly id: RunId
  /** True: the run was there already, by its unique key, throttle or debounce. */
  readonly duplicate: boolean
  /** What the task returned. Throws RunFailed if it ended otherwise, WAIT_TIMED_OUT if it has not ended in time. */
  result(options?: ResultOptions): Promise<Result>
  /** As it is now. */
  status(): Promise<RunView>
  /** State, attempt and progress, whenever one of them changed; the last value is the final state. Looks about once a second. */
  progress(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<RunProgress>
  /** What has not started ends at once; what runs is told to stop. */
  cancel(): Promise<CancelAnswer>
}

/** A run by its id, or by anything that has it: a handle, a row of a list. */
export type RunReference = string | { readonly id: string }

/** A run that ended without a result. `cause`: the cause of the error in the worker, if it had one. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed'
  readonly run: RunView
  /** One of the closed list of codes. */
  readonly code: string
  readonly attempts: number
  /** Stack trace of the error in the worker, where there is one. */
  readonly remoteStack: string | undefined

  constructor(run: RunView) {
    // What somebody wrote by hand may lack all of it.
    const { code = 'RESULT_NOT_AVAILABLE', detail = '', stack } = (run.result ?? {}) as Partial<Record<string, string>>
    const cause = causeOf(run.result)
    super(`Run ${run.id} of ${run.task} ended ${run.status} (${code}): ${detail}`, cause === undefined ? {} : { cause })
    this.run = run
    this.code = code
    this.attempts = run.attempt
    this.remoteStack = stack
  }
}

/** The cause of the error that the task threw. An AggregateError becomes the cause itself, with its errors. */
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
        followedRun(() => notFound(id)),
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
    why: 'Ids are positive whole numbers.',
    fix: 'Use the id that enqueue returned.',
  })
}

/** `what`: for people. */
export async function waitFor<Id, View>(
  waits: Waits<Id, View>,
  id: Id,
  { timeout, signal }: ResultOptions,
  what: string,
): Promise<View | undefined> {
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
  using end = limit(timeoutMs, () => timedOut(what, timeoutMs ?? 0, waits.problem()), signal)
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
      ? 'It is still waiting or running; only this wait ended.'
      : `The database did not answer: ${problem instanceof Error ? problem.message : 'no answer'}.`,
    fix: isKnown
      ? 'Wait again, or longer. If it never starts, check that a replica that knows the task is alive: q status'
      : 'Check that the database can be reached, then wait again.',
    cause: problem,
  })
}

function notFound(id: RunId): ExplainedError {
  return new ExplainedError({
    code: 'RUN_NOT_FOUND',
    what: `There is no run ${id}.`,
    why: 'It was never enqueued in this database, or its transaction was rolled back, or it was pruned.',
    fix: 'Check the id and the database.',
  })
}
