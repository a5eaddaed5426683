/**
 * Records the outcome of a run after its code has reported: writes the log first, decides the outcome (decide-outcome.ts)
 * and stores it under the lease. Runs of batches and runs with a slot for themselves both end here.
 */
import type { ClaimedRun, Lease, OnDeadline, Outcome, Settlement } from '@q/store'
import type { OptionData } from '@q/task'
import { userFrame } from '../../output/user-frame.ts'
import type { RunReport } from '../../protocol/messages.ts'
import { decideOutcome, type OutcomeDecision, type Policy } from './decide-outcome.ts'
import type { RunMonitor } from '../liveness/run-monitor.ts'
import { releaseRun, settle, snooze, type SettleDeps } from './settle.ts'
import type { TaskLogs } from './task-logs.ts'
import { signatureOf, type ErrorSignature } from '../stats/error-signature.ts'
import type { RunCounts } from '../stats/run-counts.ts'

export interface RecordDeps extends SettleDeps {
  readonly logs: TaskLogs
  readonly host: { readonly hostname: string; readonly pid: number }
  readonly optionsOf: (task: string) => OptionData
  /** For runs and tasks that set none. */
  readonly limits: Pick<Policy, 'timeoutMs' | 'maxSilentMs' | 'noEvidenceMs'>
  /** What happens to a run that a drain stops. */
  readonly onDeadline: () => OnDeadline
  readonly counts: RunCounts
  /** A run waits for its time again and is due in `inMs` milliseconds at the earliest. */
  readonly dueIn: (inMs: number) => void
}

export interface ReportedRun {
  readonly report: RunReport
  /** Undefined: no loop had to look at the run. */
  readonly monitor: RunMonitor | undefined
  readonly slot: number
  readonly tookMs: number
}

export async function recordOutcome(deps: RecordDeps, claimed: ClaimedRun, reported: ReportedRun): Promise<void> {
  const { report, monitor } = reported
  const { runId } = claimed
  monitor?.codeEnded()
  if (hasFencedItself(report, monitor)) deps.observe({ type: 'fenced', runIds: [runId] })
  await deps.logs.written(claimed)
  const policy = { ...policyOf(deps, claimed), onDeadline: deps.onDeadline() }
  await applyDecision(deps, claimed, decideOutcome(report, monitor?.stopReason, policy), reported)
}

/** The run's own limits, else its task's, as this replica knows it, else the replica's. */
export function policyOf(deps: Pick<RecordDeps, 'optionsOf' | 'limits'>, claimed: ClaimedRun): Policy {
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
function hasFencedItself(report: RunReport, monitor: RunMonitor | undefined): boolean {
  return (
    monitor?.stopReason === undefined && report.ended === 'aborted' && report.reason === 'cut off from the database'
  )
}

async function applyDecision(
  deps: RecordDeps,
  claimed: ClaimedRun,
  end: OutcomeDecision,
  reported: ReportedRun,
): Promise<void> {
  const { runId, fence, task } = claimed
  const lease = { runId, fence }
  const by = { ...deps.host, thread: reported.slot }
  const tookMs = Math.round(reported.tookMs)
  switch (end.kind) {
    case 'nothing':
      return deps.observe({ type: 'lease-lost', runId, task })
    case 'release':
      deps.counts.ended(claimed, { outcome: 'retried', tookMs })
      return releaseRun(deps, lease, by)
    case 'snooze':
      return snoozeRun(deps, claimed, { lease, afterMs: end.afterMs, tookMs })
    case 'settle':
      return settleOutcome(deps, claimed, { lease, outcome: end.outcome, by, tookMs }, reported)
  }
}

async function snoozeRun(
  deps: RecordDeps,
  claimed: ClaimedRun,
  { lease, afterMs, tookMs }: { readonly lease: Lease; readonly afterMs: number; readonly tookMs: number },
): Promise<void> {
  const { runId, task } = claimed
  switch (await snooze(deps, lease, afterMs, tookMs)) {
    case 'lease-lost':
      return deps.observe({ type: 'lease-lost', runId, task })
    case 'cancelled': {
      deps.counts.ended(claimed, { outcome: 'cancelled', tookMs })
      const why = { code: 'TASK_CANCELLED', detail: 'Cancelled before it could be started again.' }
      return deps.observe({ type: 'run-ended', runId, task, status: 'CANCELLED', tookMs, ...why })
    }
    case 'snoozed':
      deps.dueIn(afterMs)
      deps.counts.ended(claimed, { outcome: 'retried', tookMs })
      return deps.observe({ type: 'run-retried', runId, task, tookMs, detail: 'It asked to be called later.' })
  }
}

/** The shortest delay of a retry: the store doubles it with every attempt and adds jitter. */
function leastDelayMs(outcome: Outcome): number {
  const { delayMs = 0, delayMsMax } = (outcome.status === 'FAILED' ? outcome.retry : undefined) ?? {}
  return delayMsMax === undefined ? delayMs : Math.min(delayMs, delayMsMax) * 0.75
}

async function settleOutcome(
  deps: RecordDeps,
  claimed: ClaimedRun,
  settlement: Settlement & { readonly tookMs: number },
  { report }: ReportedRun,
): Promise<void> {
  const { runId, task, gated } = claimed
  const { tookMs } = settlement
  const signature = signatureFor(task, settlement.outcome, report)
  const marked = signature === undefined ? settlement : withFingerprint(settlement, signature)
  const { answer, outcome } = await settle(deps, marked, !gated)
  if (answer === 'lease-lost') return deps.observe({ type: 'lease-lost', runId, task })
  const { status } = outcome
  const crashed = status === 'FAILED' && outcome.crashed === true
  const at = status === 'FAILED' && outcome.stack !== undefined ? userFrame(outcome.stack) : undefined
  const why =
    status === 'SUCCEEDED' ? {} : { code: outcome.code, detail: outcome.detail, ...(at === undefined ? {} : { at }) }
  const error = outcome === marked.outcome ? signature : signatureFor(task, outcome, report)
  deps.counts.ended(claimed, { outcome: answer === 'retried' ? answer : countedAs[status], crashed, tookMs, error })
  if (answer === 'retried') {
    deps.dueIn(leastDelayMs(outcome))
    return deps.observe({ type: 'run-retried', runId, task, tookMs, ...why })
  }
  deps.observe({ type: 'run-ended', runId, task, status, tookMs, ...why })
}

const countedAs = { SUCCEEDED: 'succeeded', FAILED: 'failed', CANCELLED: 'cancelled' } as const

function signatureFor(task: string, outcome: Outcome, report: RunReport): ErrorSignature | undefined {
  if (outcome.status !== 'FAILED') return undefined
  const { errorName, fingerprint: given } = report.ended === 'failed' ? report : {}
  return signatureOf({ ...outcome, task, errorName, given })
}

function withFingerprint<T extends Settlement>(settlement: T, { fingerprint }: ErrorSignature): T {
  return { ...settlement, outcome: { ...settlement.outcome, fingerprint } }
}
