/**
 * What a task's code can say by throwing, beside that something went wrong:
 *
 *   throw new Fail('…')            FAILED now; trying again would not help
 *   throw new Retry({ after })     again after so long, if attempts are left
 *   throw new Snooze(after)        later; this was no failure, and the attempt does not count
 *
 * Anything else that is thrown is tried again as the task's `retry` says.
 */
import { durationMs, type Duration } from './duration.ts'

/** The mark by which an outcome is recognised, also when two copies of this package are loaded. */
const mark = Symbol.for('@q/task/outcome')

export type ThrownOutcome =
  | { readonly kind: 'fail' }
  | { readonly kind: 'retry'; readonly afterMs: number | undefined }
  | { readonly kind: 'snooze'; readonly afterMs: number }

export class Fail extends Error {
  override readonly name: string = 'Fail'

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    says(this, { kind: 'fail' })
  }
}

export interface RetryWish {
  /** Not before so long. Default: as the task's `retry` says. */
  readonly after?: Duration
  readonly message?: string
  readonly cause?: unknown
}

export class Retry extends Error {
  override readonly name: string = 'Retry'

  constructor({ after, message = 'The code asked to be tried again.', ...options }: RetryWish = {}) {
    super(message, options)
    says(this, { kind: 'retry', afterMs: after === undefined ? undefined : durationMs(after) })
  }
}

export class Snooze extends Error {
  override readonly name: string = 'Snooze'

  constructor(after: Duration) {
    super('The code asked to be called later.')
    says(this, { kind: 'snooze', afterMs: durationMs(after) })
  }
}

/** What was meant, or undefined: just an error. Whatever was thrown, this does not throw. */
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
