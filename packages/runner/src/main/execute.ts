/**
 * One run, from claimed to settled. The only file that sees a whole life.
 *
 * A run that is told to stop first has a moment to stop itself (its heartbeat throws, its signal aborts); then its
 * thread is terminated. What it was told decides what becomes of it.
 */
import type { ErrorCode } from '@q/schema'
import type { ClaimedRun, Outcome, Settlement, Store } from '@q/store'
import type { RunReport } from '../protocol.ts'
import type { Observe } from './events.ts'
import { pause } from './loop.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'
import { settle, type Settlements } from './settle.ts'
import type { Slots } from './slots.ts'
import type { ThreadPool } from './thread-pool.ts'

export interface ExecuteDeps {
  readonly store: Store
  readonly settlements: Settlements
  readonly slots: Slots
  readonly threads: ThreadPool
  readonly pulseBoard: PulseBoard
  readonly observe: Observe
  readonly host: { readonly hostname: string; readonly pid: number }
  readonly onCrash: 'fail' | 'retry'
  readonly nowMs: () => number
  readonly count: (status: Outcome['status']) => void
}

const stopGraceMs = 2_000

export async function executeRun(deps: ExecuteDeps, claimed: ClaimedRun, slot: number): Promise<void> {
  const { runId, fence, task, attempt } = claimed
  const begunMs = deps.nowMs()
  const pulse = deps.pulseBoard.open({ runId, fence }, slot, begunMs)
  deps.observe({ type: 'run-started', runId, task, attempt, thread: slot })
  try {
    const report = await runUntilStopped(deps, claimed, pulse)
    const end = endOf(report, pulse, claimed.onCrash ?? deps.onCrash)
    if (end === 'give-back') {
      const released = await deps.store.releaseTaskRuns([pulse.lease])
      deps.observe({ type: 'runs-released', runIds: released })
    } else if (end !== 'nothing') {
      await recordEnd(deps, claimed, end, { slot, tookMs: Math.round(deps.nowMs() - begunMs) })
    }
  } finally {
    pulse.close()
    deps.slots.giveBack(slot)
  }
}

async function runUntilStopped(deps: ExecuteDeps, claimed: ClaimedRun, pulse: Pulse): Promise<RunReport> {
  const { runId, fence, epoch, attempt, task, payload } = claimed
  const terminate = new AbortController()
  const ended = new AbortController()
  pulse.signal.addEventListener('abort', () => {
    void pause(stopGraceMs, ended.signal).then(() => terminate.abort())
  })
  const order = { kind: 'run', runId, fence, epoch, attempt, task, payload, slot: pulse.slot } as const
  return deps.threads.run(order, terminate.signal).finally(() => ended.abort())
}

function endOf(report: RunReport, pulse: Pulse, onCrash: 'fail' | 'retry'): Outcome | 'give-back' | 'nothing' {
  if (report.ended === 'returned') return { status: 'SUCCEEDED', result: report.result }
  if (report.ended === 'failed') return failed(report.code, report.detail, report.stack)
  switch (pulse.stopReason) {
    case 'cancelled':
      return { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'Cancelled while it was running.' }
    case 'replica draining':
      if (onCrash === 'retry') return 'give-back'
      return failed('DRAINED', 'Its replica was shut down before it could finish.')
    case 'lease lost':
    case undefined:
      return 'nothing'
  }
}

function failed(code: ErrorCode, detail: string, stack?: string): Outcome {
  return stack === undefined ? { status: 'FAILED', code, detail } : { status: 'FAILED', code, detail, stack }
}

async function recordEnd(
  deps: ExecuteDeps,
  { runId, fence, task }: ClaimedRun,
  outcome: Outcome,
  { slot, tookMs }: { slot: number; tookMs: number },
): Promise<void> {
  const settlement: Settlement = { lease: { runId, fence }, outcome, by: { ...deps.host, thread: slot } }
  if ((await settle(deps, settlement)) === 'lease-lost') return deps.observe({ type: 'lease-lost', runId, task })
  deps.count(outcome.status)
  const { status } = outcome
  const why = status === 'SUCCEEDED' ? {} : { code: outcome.code, detail: outcome.detail }
  deps.observe({ type: 'run-ended', runId, task, status, tookMs, ...why })
}
