/**
 * From the report of a run's code to its recorded end: the log is written first, ends.ts decides the outcome, and the store records it
 * under the lease. The same for a run that had a slot for itself and for a run of a batch.
 */
import type { ClaimedRun, OnDeadline, Outcome, Settlement } from '@q/store'
import type { OptionData } from '@q/task'
import { ownFrame } from '../own-frame.ts'
import type { RunReport } from '../protocol.ts'
import { endOf, type End, type Policy } from './ends.ts'
import type { Pulse } from './pulse-board.ts'
import { giveBack, settle, snooze, type SettleDeps } from './settle.ts'
import type { TaskLogs } from './task-logs.ts'

export interface ConcludeDeps extends SettleDeps {
  readonly logs: TaskLogs
  readonly host: { readonly hostname: string; readonly pid: number }
  readonly optionsOf: (task: string) => OptionData
  /** For runs and tasks that set none. */
  readonly limits: Pick<Policy, 'timeoutMs' | 'maxSilentMs' | 'noEvidenceMs'>
  /** What happens to a run that a drain stops. */
  readonly onDeadline: () => OnDeadline
  readonly count: (status: Outcome['status']) => void
  /** A run waits for its time again and is due in `inMs` milliseconds at the earliest. */
  readonly dueIn: (inMs: number) => void
}

export interface Reported {
  readonly report: RunReport
  /** Undefined: no loop had to look at the run. */
  readonly pulse: Pulse | undefined
  readonly slot: number
  readonly tookMs: number
}

export async function conclude(deps: ConcludeDeps, claimed: ClaimedRun, reported: Reported): Promise<void> {
  const { report, pulse } = reported
  const { runId } = claimed
  pulse?.codeEnded()
  if (hasFencedItself(report, pulse)) deps.observe({ type: 'fenced', runIds: [runId] })
  await deps.logs.written(claimed)
  const policy = { ...policyOf(deps, claimed), onDeadline: deps.onDeadline() }
  await record(deps, claimed, endOf(report, pulse?.stopReason, policy), reported)
}

/** The run's own limits, else its task's, as this replica knows it, else the replica's. */
export function policyOf(deps: Pick<ConcludeDeps, 'optionsOf' | 'limits'>, claimed: ClaimedRun): Policy {
  const options = deps.optionsOf(claimed.task)
  return {
    onCrash: claimed.onCrash,
    retry: options.retry,
    timeoutMs: claimed.timeoutMs ?? options.timeoutMs ?? deps.limits.timeoutMs,
    maxSilentMs: claimed.maxSilentMs ?? options.maxSilentMs ?? deps.limits.maxSilentMs,
    noEvidenceMs: deps.limits.noEvidenceMs,
  }
}

/** Whether its thread or child stopped it, because this main thread did not in time. */
function hasFencedItself(report: RunReport, pulse: Pulse | undefined): boolean {
  return pulse?.stopReason === undefined && report.ended === 'aborted' && report.reason === 'cut off from the database'
}

async function record(deps: ConcludeDeps, claimed: ClaimedRun, end: End, reported: Reported): Promise<void> {
  const { runId, fence, task } = claimed
  const lease = { runId, fence }
  const by = { ...deps.host, thread: reported.slot }
  const tookMs = Math.round(reported.tookMs)
  switch (end.kind) {
    case 'nothing':
      return deps.observe({ type: 'lease-lost', runId, task })
    case 'give-back':
      return giveBack(deps, lease, by)
    case 'snooze':
      if ((await snooze(deps, lease, end.afterMs)) === 'lease-lost')
        return deps.observe({ type: 'lease-lost', runId, task })
      deps.dueIn(end.afterMs)
      return deps.observe({ type: 'run-retried', runId, task, tookMs, detail: 'It asked to be called later.' })
    case 'settle':
      return recordEnd(deps, claimed, { lease, outcome: end.outcome, by, tookMs }, tookMs)
  }
}

/** The shortest delay of a retry: the store doubles it with every attempt and adds jitter. */
function leastDelayMs(outcome: Outcome): number {
  const { delayMs = 0, delayMsMax } = (outcome.status === 'FAILED' ? outcome.retry : undefined) ?? {}
  return delayMsMax === undefined ? delayMs : Math.min(delayMs, delayMsMax) * 0.75
}

async function recordEnd(
  deps: ConcludeDeps,
  { runId, task, gated }: ClaimedRun,
  settlement: Settlement,
  tookMs: number,
): Promise<void> {
  const { answer, outcome } = await settle(deps, settlement, !gated)
  if (answer === 'lease-lost') return deps.observe({ type: 'lease-lost', runId, task })
  const { status } = outcome
  const at = status === 'FAILED' && outcome.stack !== undefined ? ownFrame(outcome.stack) : undefined
  const why =
    status === 'SUCCEEDED' ? {} : { code: outcome.code, detail: outcome.detail, ...(at === undefined ? {} : { at }) }
  if (answer === 'retried') {
    deps.dueIn(leastDelayMs(outcome))
    return deps.observe({ type: 'run-retried', runId, task, tookMs, ...why })
  }
  deps.count(status)
  deps.observe({ type: 'run-ended', runId, task, status, tookMs, ...why })
}
