/**
 * Watches a run of a batch. The watch starts only when a loop needs it: for a limit, a cancel request, a log line, a due
 * heartbeat or a drain. Most short runs end without one.
 */
import type { ClaimedRun } from '@q/store'
import { policyOf, type RecordDeps } from '../execute/record-outcome.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import type { RunMonitors } from '../liveness/run-monitors.ts'
import type { ContextRequests } from '../execute/context-requests.ts'
import type { CommandDeps } from '../execute/run-command.ts'
import { terminateAfterGrace } from '../execute/stop-grace.ts'
import type { HandedRun } from '../executors/handed-runs.ts'
import type { ThreadPool } from '../executors/thread-pool.ts'
import { messageHandler, type OnMessage } from '../executors/executor.ts'

/** A run of a batch, until its outcome is written. */
export interface DispatchedRun extends HandedRun {
  readonly run: ClaimedRun
  readonly slot: number
  readonly expectedMs: number
  /** Whether its code has ended; its outcome may not be written yet. */
  hasEnded: boolean
  watch: RunWatch | undefined
}

export interface RunWatch {
  readonly monitor: RunMonitor
  readonly onMessage: OnMessage
  /** To call when the code has ended by itself. */
  readonly ended: () => void
}

export interface RunWatchDeps extends RecordDeps, CommandDeps {
  readonly runMonitors: RunMonitors
  readonly requests: ContextRequests
  readonly stopGraceMs: number
  readonly nowMs: () => number
  readonly threads: Pick<ThreadPool, 'terminate' | 'measure'>
}

/** `stopUnbegun` tries to withdraw the run before its code begins, and returns whether it did. */
export function watchRun(deps: RunWatchDeps, one: DispatchedRun, stopUnbegun: () => boolean): RunWatch {
  const { run, slot, command } = one
  const { runId, fence, task } = run
  const facts = { lease: { runId, fence }, task, isolation: 'thread' as const, ...policyOf(deps, run) }
  const monitor = deps.runMonitors.openInBatch(facts, slot, command.seq, deps.nowMs(), stopUnbegun)
  monitor.measureBy(() => deps.threads.measure(slot))
  const ended = terminateAfterGrace(monitor, deps.stopGraceMs, () => deps.threads.terminate(one, slot))
  return { monitor, ended, onMessage: messageHandler(deps, monitor) }
}
