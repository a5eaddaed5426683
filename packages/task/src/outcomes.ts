/**
 * Errors with which the code of a task chooses its outcome:
 *
 *   throw new Fail('…')           FAILED, without a retry; `{ fingerprint }`: errors with the same one form a group
 *   throw new Retry({ after })    retry after this time, if attempts are left
 *   throw new Snooze(after)       run again later: not a failure, and the attempt does not count
 *
 * Every other error is retried as the task's `retry` says.
 */
import { durationMs, type Duration } from './duration.ts'

/** Identifies an outcome even if two copies of this package are loaded. */
const mark = Symbol.for('@q/task/outcome')

export type ThrownOutcome =
  | { readonly kind: 'fail'; readonly fingerprint: string | undefined }
  | { readonly kind: 'retry'; readonly afterMs: number | undefined }
  | { readonly kind: 'snooze'; readonly afterMs: number }

export class Fail extends Error {
  override readonly name: string = 'Fail'

  constructor(message: string, { fingerprint, ...options }: { cause?: unknown; fingerprint?: string } = {}) {
    super(message, options)
    says(this, { kind: 'fail', fingerprint })
  }
}

export interface RetryRequest {
  /** The shortest wait. Default: as the task's `retry` says. */
  readonly after?: Duration
  readonly message?: string
  readonly cause?: unknown
}

export class Retry extends Error {
  override readonly name: string = 'Retry'

  constructor({ after, message = 'The code requested a retry.', ...options }: RetryRequest = {}) {
    super(message, options)
    says(this, { kind: 'retry', afterMs: after === undefined ? undefined : durationMs(after) })
  }
}

export class Snooze extends Error {
  override readonly name: string = 'Snooze'

  constructor(after: Duration) {
    super('The code snoozed the run.')
    says(this, { kind: 'snooze', afterMs: durationMs(after) })
  }
}

/** The outcome that a thrown value requests; undefined for any other error. Never throws. */
export function outcomeOf(thrown: unknown): ThrownOutcome | undefined {
  try {
    return thrown instanceof Error ? (Reflect.get(thrown, mark) as ThrownOutcome | undefined) : undefined
  } catch {
    return undefined
  }
}

function says(error: Error, outcome: ThrownOutcome): void {
  Object.defineProperty(error, mark, { value: outcome })
}
