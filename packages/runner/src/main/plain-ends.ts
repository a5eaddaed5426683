/** Plain successes of batches on their way into the database: an object without closures for each, because they are many. */
import type { Finish } from '@q/store'
import type { DispatchedRun, MonitorDeps } from './monitor-run.ts'
import type { PendingFinish } from './turns.ts'

export interface PlainEndDeps {
  readonly execution: () => Pick<MonitorDeps, 'host' | 'count' | 'observe'>
  readonly settled: (one: DispatchedRun) => void
  /** The exchange did not settle it, or its answer was lost. */
  readonly unsettled: (one: DispatchedRun, result: string, tookMs: number) => void
}

export function createPlainEnds(deps: PlainEndDeps) {
  class PlainEnd implements PendingFinish {
    readonly finish: Finish
    readonly #one: DispatchedRun

    constructor(one: DispatchedRun, result: string, tookMs: number) {
      const { hostname, pid } = deps.execution().host
      this.finish = { lease: one.run, result, tookMs, by: { hostname, pid, thread: one.slot } }
      this.#one = one
    }

    settled(isSettled: boolean): void {
      if (!isSettled) return this.unknown()
      const { runId, task } = this.#one.run
      const { count, observe } = deps.execution()
      deps.settled(this.#one)
      count('SUCCEEDED')
      observe({ type: 'run-ended', runId, task, status: 'SUCCEEDED', tookMs: Math.round(this.finish.tookMs ?? 0) })
    }

    unknown(): void {
      deps.unsettled(this.#one, this.finish.result, this.finish.tookMs ?? 0)
    }
  }
  return (one: DispatchedRun, result: string, tookMs: number): PendingFinish => new PlainEnd(one, result, tookMs)
}
