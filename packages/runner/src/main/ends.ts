/**
 * What becomes of a run whose code has ended, or was stopped: pure, so that the whole table can be read and tested.
 *
 * What the code has reached counts, also if it was told to stop meanwhile: a result is never thrown away by us. (If the
 * lease is lost, the database refuses it.) Else what it was told to stop for decides.
 */
import type { ErrorCode } from '@q/schema'
import type { OnDeadline, Outcome } from '@q/store'
import type { RetryData } from '@q/task'
import type { RunReport } from '../protocol.ts'
import type { AbortReason } from '../pulse-layout.ts'

export type End =
  | { readonly kind: 'settle'; readonly outcome: Outcome }
  /** Requeued, the attempt returned. */
  | { readonly kind: 'give-back' }
  | { readonly kind: 'snooze'; readonly afterMs: number }
  /** It is somebody else's. */
  | { readonly kind: 'nothing' }

export interface Policy {
  readonly onCrash: 'fail' | 'retry'
  readonly retry: RetryData
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
  /** How long a thread may give no evidence of life, where no `maxSilentMs` applies. */
  readonly noEvidenceMs: number
  /** Of the drain that stops it, if one does. Default: `by-task`. */
  readonly onDeadline?: OnDeadline
}

export function endOf(report: RunReport, stopReason: AbortReason | undefined, policy: Policy): End {
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
      // Without a stop of ours, the thread or child stopped it: this main thread hung for longer than the fence bound.
      const reason = stopReason ?? report.reason
      return reason === undefined ? { kind: 'nothing' } : stopped(reason, policy)
    }
  }
}

function stopped(reason: AbortReason, policy: Policy): End {
  switch (reason) {
    case 'lease lost':
      return { kind: 'nothing' }
    case 'cancelled': {
      const detail = 'Cancelled while it was running.'
      return { kind: 'settle', outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED', detail } }
    }
    case 'replica draining':
      if (isReleased(policy)) return { kind: 'give-back' }
      return settle('DRAINED', 'Its replica was shut down before it could finish.')
    case 'cut off from the database':
      if (policy.onCrash === 'retry') return { kind: 'give-back' }
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

/** Stack and causes of the report, as far as it has them. */
function stackAndCauses({ stack, cause, errors }: Pick<Failure, 'stack' | 'cause' | 'errors'>): Partial<Failure> {
  return {
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined ? {} : { cause }),
    ...(errors === undefined ? {} : { errors }),
  }
}

type Failure = Extract<Outcome, { status: 'FAILED' }>

function settle(code: ErrorCode, detail: string, more: Omit<Failure, 'status' | 'code' | 'detail'> = {}): End {
  return { kind: 'settle', outcome: { status: 'FAILED', code, detail, ...more } }
}

function againAfter(again: 'never' | { afterMs: number } | undefined, retry: RetryData): Pick<Failure, 'retry'> {
  if (again === 'never') return {}
  if (again === undefined) return backoff(retry)
  // What the code asked for is neither stretched nor shortened.
  return { retry: { delayMs: again.afterMs } }
}

/** Whether attempts are left is the run's own business: the store knows its maxAttempts. */
function backoff({ backoff: kind, delayMs, maxDelayMs }: RetryData): Pick<Failure, 'retry'> {
  return { retry: { delayMs, delayMsMax: kind === 'fixed' ? Math.min(delayMs, maxDelayMs) : maxDelayMs } }
}
