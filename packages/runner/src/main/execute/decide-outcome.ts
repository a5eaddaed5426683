/**
 * Decides the outcome of a run whose code has ended or was stopped. Pure.
 *
 * A result or error of the code counts even if a stop was requested before the code ended. (If the lease is lost, the
 * database rejects the write.) Otherwise the reason of the stop decides.
 */
import type { ErrorCode } from '@q/schema'
import type { OnDeadline, Outcome } from '@q/store'
import type { RetryData } from '@q/task'
import type { RunReport } from '../../protocol/messages.ts'
import type { AbortReason } from '../../protocol/slot-layout.ts'

export type OutcomeDecision =
  | { readonly kind: 'settle'; readonly outcome: Outcome }
  /** The run returns to the queue, and the attempt does not count. */
  | { readonly kind: 'release' }
  | { readonly kind: 'snooze'; readonly afterMs: number }
  /** The lease is lost: there is nothing to write. */
  | { readonly kind: 'nothing' }

export interface Policy {
  readonly onCrash: 'fail' | 'retry'
  readonly retry: RetryData
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** How long a thread may show no evidence of life, if the task has no `maxSilentMs`. */
  readonly noEvidenceMs: number
  /** From the drain that stops the run. Default: `by-task`. */
  readonly onDeadline?: OnDeadline
}

export function decideOutcome(report: RunReport, stopReason: AbortReason | undefined, policy: Policy): OutcomeDecision {
  switch (report.ended) {
    case 'returned':
      return { kind: 'settle', outcome: { status: 'SUCCEEDED', result: report.result } }
    case 'failed':
      return settle(report.code, report.detail, {
        ...stackAndCauses(report),
        ...againAfter(report.again, policy.retry),
      })
    case 'snoozed':
      return { kind: 'snooze', afterMs: report.afterMs }
    case 'crashed':
      if (stopReason !== undefined) return stopped(stopReason, policy)
      return settle(report.code, report.detail, { crashed: true })
    case 'aborted': {
      // Without a stop reason here, the thread or child stopped itself: this main thread hung for longer than the fence bound.
      const reason = stopReason ?? report.reason
      return reason === undefined ? { kind: 'nothing' } : stopped(reason, policy)
    }
  }
}

function stopped(reason: AbortReason, policy: Policy): OutcomeDecision {
  switch (reason) {
    case 'lease lost':
      return { kind: 'nothing' }
    case 'cancelled': {
      const detail = 'Cancelled while it was running.'
      return { kind: 'settle', outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED', detail } }
    }
    case 'replica draining':
      if (isReleased(policy)) return { kind: 'release' }
      return settle('DRAINED', 'Its replica was shut down before it could finish.')
    case 'cut off from the database':
      if (policy.onCrash === 'retry') return { kind: 'release' }
      return settle('WORKER_CRASHED', 'Its replica was cut off from the database for too long, and stopped it.')
    case 'timed out':
      return settle('TIMEOUT', `It ran longer than its limit of ${policy.timeoutMs} ms.`, backoff(policy.retry))
    case 'silent for too long': {
      const detail = `It gave no heartbeat, progress or log line for its limit of ${policy.maxSilentMs} ms.`
      return settle('SILENT', detail, backoff(policy.retry))
    }
    case 'no evidence of life': {
      const missing = 'no heartbeat, no turn of its event loop, no CPU time'
      const detail = `Its thread gave no evidence of life for ${policy.noEvidenceMs} ms: ${missing}. A maxSilent allows longer.`
      return settle('SILENT', detail, backoff(policy.retry))
    }
  }
}

function isReleased({ onDeadline = 'by-task', onCrash }: Policy): boolean {
  return onDeadline === 'by-task' ? onCrash === 'retry' : onDeadline === 'release'
}

/** The stack and causes that the report has. */
function stackAndCauses({ stack, cause, errors }: Pick<Failure, 'stack' | 'cause' | 'errors'>): Partial<Failure> {
  return {
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined ? {} : { cause }),
    ...(errors === undefined ? {} : { errors }),
  }
}

type Failure = Extract<Outcome, { status: 'FAILED' }>

function settle(
  code: ErrorCode,
  detail: string,
  more: Omit<Failure, 'status' | 'code' | 'detail'> = {},
): OutcomeDecision {
  return { kind: 'settle', outcome: { status: 'FAILED', code, detail, ...more } }
}

function againAfter(again: 'never' | { afterMs: number } | undefined, retry: RetryData): Pick<Failure, 'retry'> {
  if (again === 'never') return {}
  if (again === undefined) return backoff(retry)
  // A delay that the code requested is used unchanged, without backoff.
  return { retry: { delayMs: again.afterMs } }
}

/** The store decides whether attempts are left, by the run's `maxAttempts`. */
function backoff({ backoff: kind, delayMs, maxDelayMs }: RetryData): Pick<Failure, 'retry'> {
  return { retry: { delayMs, delayMsMax: kind === 'fixed' ? Math.min(delayMs, maxDelayMs) : maxDelayMs } }
}
