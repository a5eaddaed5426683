/**
 * Holds the plain successes of batches until an exchange has written them. They are many, so each is one object without
 * closures.
 */
import type { Finish } from '@q/store'
import type { DispatchedRun, RunWatchDeps } from './watch-run.ts'
import type { PendingFinish } from '../claim/exchange-buffer.ts'

export interface BatchFinishDeps {
  readonly execution: Pick<RunWatchDeps, 'host' | 'counts' | 'observe'>
  readonly settled: (one: DispatchedRun) => void
  /** The exchange did not settle it, or its answer was lost. */
  readonly unsettled: (one: DispatchedRun, result: string, tookMs: number) => void
}

export function createBatchFinishes(deps: BatchFinishDeps) {
  class BatchFinish implements PendingFinish {
    readonly finish: Finish
    readonly #one: DispatchedRun

    constructor(one: DispatchedRun, result: string, tookMs: number) {
      const { hostname, pid } = deps.execution.host
      this.finish = { lease: one.run, result, tookMs, by: { hostname, pid, thread: one.slot } }
      this.#one = one
    }

    settled(isSettled: boolean): void {
      if (!isSettled) return this.unknown()
      const { runId, task } = this.#one.run
      const { counts, observe } = deps.execution
      deps.settled(this.#one)
      const tookMs = this.finish.tookMs ?? 0
      counts.ended(this.#one.run, { outcome: 'succeeded', tookMs })
      observe({ type: 'run-ended', runId, task, status: 'SUCCEEDED', tookMs: Math.round(tookMs) })
    }

    unknown(): void {
      deps.unsettled(this.#one, this.finish.result, this.finish.tookMs ?? 0)
    }
  }
  return (one: DispatchedRun, result: string, tookMs: number): PendingFinish => new BatchFinish(one, result, tookMs)
}
