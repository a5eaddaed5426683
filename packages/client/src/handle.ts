/** A run, as its producer sees it. */
import { ExplainedError } from '@q/schema'
import type { RunId, RunView, Store } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import { limit } from './poll.ts'
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
  status(): Promise<RunView>
}

/** A run that ended, but not with a result. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed'
  readonly run: RunView
  /** One of the closed list of codes. */
  readonly code: string
  readonly attempts: number
  /** Stack trace of the error in the worker, where there is one. */
  readonly remoteStack: string | undefined

  constructor(run: RunView) {
    const { code, detail, stack } = run.result as { code: string; detail?: string; stack?: string }
    super(`Run ${run.id} of ${run.task} ended ${run.status} (${code}): ${detail ?? ''}`)
    this.run = run
    this.code = code
    this.attempts = run.attempt
    this.remoteStack = stack
  }
}

export function createHandle<Result>(
  deps: { store: Store; waits: Waits },
  id: RunId,
  duplicate = false,
): RunHandle<Result> {
  return {
    id,
    duplicate,
    async result(options = {}) {
      const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout)
      const signal = limit(timeoutMs, options.signal)
      const run = await deps.waits.until(id, signal).catch((error: unknown) => {
        throw isTimeout(error) ? timedOut(id, timeoutMs ?? 0) : error
      })
      if (run === undefined) throw notFound(id)
      if (run.status !== 'SUCCEEDED') throw new RunFailed(run)
      return run.result as Result
    },
    async status() {
      const [run] = await deps.store.getTaskRuns([id])
      if (run === undefined) throw notFound(id)
      return run
    },
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

function timedOut(id: RunId, timeoutMs: number): ExplainedError {
  return new ExplainedError({
    code: 'WAIT_TIMED_OUT',
    what: `Run ${id} has not ended after ${timeoutMs} ms.`,
    why: 'It is still waiting or running; only the waiting was given up.',
    fix: 'Wait again, or longer. If it never starts, check that a replica that knows the task is alive: q status',
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
