/**
 * One run, from claimed to settled. The only file that sees a whole life.
 *
 * A run that is told to stop first has a moment to stop itself (its heartbeat throws, its signal aborts); then its
 * thread is terminated. What it was told decides what becomes of it.
 */
import type { ErrorCode } from '@q/schema'
import type { ClaimedRun, Outcome, Settlement } from '@q/store'
import type { RunReport } from '../protocol.ts'
import { pause } from './loop.ts'
import type { Pulse, PulseBoard } from './pulse-board.ts'
import { giveBack, settle, type SettleDeps } from './settle.ts'
import type { Slots } from './slots.ts'
import type { ThreadPool } from './thread-pool.ts'

export interface ExecuteDeps extends SettleDeps {
  readonly slots: Slots
  readonly threads: ThreadPool
  readonly pulseBoard: PulseBoard
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
      await giveBack(deps, pulse.lease, { ...deps.host, thread: slot })
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
  return deps.threads.run(order, terminate.signal, pulse.threadId).finally(() => ended.abort())
}

function endOf(report: RunReport, pulse: Pulse, onCrash: 'fail' | 'retry'): Outcome | 'give-back' | 'nothing' {
  if (pulse.stopReason === 'lease lost') return 'nothing'
  // Also when it was told to stop: what has been reached counts.
  if (report.ended === 'returned') return { status: 'SUCCEEDED', result: report.result }
  if (report.ended === 'failed') return failed(report.code, report.detail, report.stack)
  switch (pulse.stopReason) {
    case 'cancelled':
      return { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: 'Cancelled while it was running.' }
    case 'replica draining':
      if (onCrash === 'retry') return 'give-back'
      return failed('DRAINED', 'Its replica was shut down before it could finish.')
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
  const { answer, outcome: written } = await settle(deps, settlement)
  if (answer === 'lease-lost') return deps.observe({ type: 'lease-lost', runId, task })
  deps.count(written.status)
  const { status } = written
  const why = status === 'SUCCEEDED' ? {} : { code: written.code, detail: written.detail }
  deps.observe({ type: 'run-ended', runId, task, status, tookMs, ...why })
}
