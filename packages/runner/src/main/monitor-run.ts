/**
 * The monitor of a run of a batch, made only when a loop has to look at the run: for its limits, a cancel request, a log
 * line, a heartbeat that is due, or a drain. Most short runs end without one.
 */
import type { ClaimedRun } from '@q/store'
import { policyOf, type ConcludeDeps } from './conclude.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'
import type { Requests } from './requests.ts'
import type { OrderDeps } from './run-order.ts'
import { terminateAfterGrace } from './stop-grace.ts'
import type { HandedRun } from './thread-feed.ts'
import type { ThreadPool } from './thread-pool.ts'
import { hearing, type Hear } from './workplace.ts'

/** A run of a batch, until its end is written. */
export interface DispatchedRun extends HandedRun {
  readonly run: ClaimedRun
  readonly slot: number
  readonly expectedMs: number
  /** Its code has ended; its end is not written yet. */
  hasEnded: boolean
  monitor: RunMonitor | undefined
}

export interface RunMonitor {
  readonly pulse: Pulse
  readonly hear: Hear
  /** The code has ended by itself. */
  readonly ended: () => void
}

export interface MonitorDeps extends ConcludeDeps, OrderDeps {
  readonly pulseBoard: PulseBoard
  readonly requests: Requests
  readonly stopGraceMs: number
  readonly nowMs: () => number
  readonly threads: Pick<ThreadPool, 'terminate' | 'measure'>
}

/** `stopUnbegun`: whether the run was withdrawn before its code began. */
export function monitorRun(deps: MonitorDeps, one: DispatchedRun, stopUnbegun: () => boolean): RunMonitor {
  const { run, slot, order } = one
  const { runId, fence, task } = run
  const facts = { lease: { runId, fence }, task, isolation: 'thread' as const, ...policyOf(deps, run) }
  const pulse = deps.pulseBoard.monitor(facts, slot, order.seq, deps.nowMs(), stopUnbegun)
  pulse.measureBy(() => deps.threads.measure(slot))
  const ended = terminateAfterGrace(pulse, deps.stopGraceMs, () => deps.threads.terminate(one, slot))
  return { pulse, ended, hear: hearing(deps, pulse) }
}
