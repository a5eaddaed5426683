/**
 * Follows the runs that were handed to threads until their ends are written. A plain success is sent with the next
 * exchange; every other end is recorded separately. A run that was withdrawn, declined or returned has not begun.
 */
import type { ClaimedRun } from '@q/store'
import type { RunReport } from '../../protocol/messages.ts'
import type { ExchangeBuffer } from '../claim/exchange-buffer.ts'
import { recordOutcome } from '../execute/record-outcome.ts'
import type { Receiver } from '../executors/handed-runs.ts'
import type { HeldRuns } from '../liveness/held-runs.ts'
import type { Signals } from '../signals.ts'
import { createBatchFinishes } from './batch-finishes.ts'
import type { StartAhead } from './start-ahead.ts'
import { ranMs, type ThreadSlots, type ThreadState } from './thread-state.ts'
import { watchRun, type DispatchedRun, type RunWatch, type RunWatchDeps } from './watch-run.ts'

export interface FollowDeps {
  /** By slot. */
  readonly threads: readonly ThreadState[]
  readonly slots: ThreadSlots
  readonly startAhead: StartAhead
  readonly heldRuns: HeldRuns
  readonly exchangeBuffer: ExchangeBuffer
  readonly execution: RunWatchDeps
  readonly processStats: { runBegan(): void; runEnded(): void }
  readonly signals: Pick<Signals, 'wakeClaim' | 'runsReady'>
}

/** Receives the ends and messages of the runs that were handed over. */
export function createReceiver(deps: FollowDeps): Receiver {
  const { heldRuns, startAhead, exchangeBuffer, signals } = deps
  const finishOf = createBatchFinishes({
    execution: deps.execution,
    settled(one) {
      heldRuns.settled(one.run)
      leave(deps, one)
    },
    unsettled: (one, result, tookMs) => recordRun(deps, one, result, tookMs),
  })
  return {
    ended(handed, report, tookMs) {
      const one = handed as DispatchedRun
      one.hasEnded = true
      unload(deps, one)
      if (tookMs > 0) startAhead.record(one.run.task, tookMs)
      one.watch?.monitor.codeEnded()
      one.watch?.ended()
      const isPlain = typeof report === 'string' && !one.run.gated && one.watch?.monitor.stopReason === undefined
      if (isPlain && exchangeBuffer.isOpen()) exchangeBuffer.add(finishOf(one, report, tookMs))
      // A thread that died reports no time.
      else recordRun(deps, one, report, tookMs > 0 ? tookMs : ranMs(one, deps.execution.runMonitors))
      signals.wakeClaim()
    },
    returned(handed, why) {
      const one = handed as DispatchedRun
      unload(deps, one)
      if (why === 'declined') abandon(deps, one)
      else {
        exchangeBuffer.awaitingSlot.unshift(one.run)
        notBegun(deps, one)
      }
      signals.wakeClaim()
    },
    onMessage: (handed, message, reply) => watchOf(deps, handed as DispatchedRun).onMessage(message, reply),
  }
}

/** The watch over a run, created on first use. */
export function watchOf(deps: FollowDeps, one: DispatchedRun): RunWatch {
  one.watch ??= watchRun(deps.execution, one, () => stopUnbegun(deps, one))
  if (one.hasEnded) one.watch.monitor.codeEnded()
  return one.watch
}

/** Withdraws the runs of a thread that have not begun. */
export function withdrawFrom(deps: FollowDeps, { feed, open }: ThreadState): ClaimedRun[] {
  const withdrawn = (feed.waiting() as DispatchedRun[]).filter((one) => open.has(one) && feed.withdraw(one))
  for (const one of withdrawn) {
    unload(deps, one)
    notBegun(deps, one)
  }
  return withdrawn.map(({ run }) => run)
}

/** Withdraws a run that must stop. False: its code has begun. */
function stopUnbegun(deps: FollowDeps, one: DispatchedRun): boolean {
  if (deps.threads[one.slot]?.feed.withdraw(one) !== true) return false
  unload(deps, one)
  const reason = one.watch?.monitor.stopReason
  if (reason === 'cancelled' || reason === 'lease lost') recordRun(deps, one, { ended: 'aborted' }, 0)
  else abandon(deps, one)
  return true
}

/** Records every end that is not a plain success. */
function recordRun(deps: FollowDeps, one: DispatchedRun, report: string | RunReport, tookMs: number): void {
  const full: RunReport = typeof report === 'string' ? { ended: 'returned', result: report, repaired: [] } : report
  const { run, slot, watch } = one
  const { execution, heldRuns, signals } = deps
  void recordOutcome(execution, run, { report: full, monitor: watch?.monitor, slot, tookMs })
    .catch((error: unknown) => execution.observe({ type: 'run-unfinished', error }))
    .finally(() => {
      // Without an outcome the run is still held in the database: reconcile.ts handles it.
      heldRuns.ended(run)
      leave(deps, one)
      // Its end may have made other steps, or the next run of its key, ready.
      if (run.gated) signals.runsReady()
      else signals.wakeClaim()
    })
}

function unload({ threads, processStats }: FollowDeps, { slot, expectedMs }: DispatchedRun): void {
  const load = threads[slot]?.load
  if (load === undefined) return
  load.runs--
  load.ms = load.runs === 0 ? 0 : load.ms - expectedMs
  if (load.runs === 0) processStats.runEnded()
}

function notBegun(deps: FollowDeps, one: DispatchedRun): void {
  deps.heldRuns.notBegun(one.run)
  deps.execution.counts.notBegun(one.run)
  leave(deps, one)
}

/** Other replicas may start it; reconcile.ts releases it if they do not. */
function abandon(deps: FollowDeps, one: DispatchedRun): void {
  deps.heldRuns.ended(one.run)
  notBegun(deps, one)
}

function leave({ threads, slots }: FollowDeps, one: DispatchedRun): void {
  one.watch?.monitor.close()
  threads[one.slot]?.open.delete(one)
  slots.check()
}
