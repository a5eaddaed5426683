/** The options of one run. They are checked before the client reads or sends anything. */
import { ExplainedError } from '@q/schema'
import type { NewRun } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import { remoteSpanOf } from '@q/task/tracing'
import type { TransactionHandle } from './transaction.ts'
import type { ThrottleDebounceOptions } from './throttle-debounce.ts'

export interface RunOptions extends ThrottleDebounceOptions {
  /** The run starts this much later at the earliest, by the database clock: `'5m'`. */
  readonly delay?: Duration
  /** The run starts at this time at the earliest; at once if it has passed by the clock of this process. Excludes `delay`. */
  readonly runAt?: Date
  /** Lower numbers run first. Default: the task's, else 0. */
  readonly priority?: number
  /** The groups of a queue (tenants, projects) share it fairly. */
  readonly group?: string
  /** If no attempt has begun after this time, the run ends EXPIRED. Default: the task's. */
  readonly expires?: Duration
  /**
   * For 24 hours, every enqueue of this task with this key returns the same run, in any state, so an enqueue whose response
   * was lost can be repeated. Replaces `unique`, `throttle` and `debounce` of the task.
   */
  readonly idempotencyKey?: string
  /** W3C `traceparent` with which the run continues a trace. Default: a span of this enqueue, if an OpenTelemetry SDK is registered. */
  readonly trace?: string
}

export interface EnqueueOptions extends RunOptions {
  /** The caller's own transaction: the run exists once it commits, and a rollback removes it. */
  readonly tx?: TransactionHandle
}

type Settings = Pick<NewRun, 'delayMs' | 'runAt' | 'priority' | 'group' | 'expiresInMs' | 'trace'>

const known: Record<keyof RunOptions, true> = {
  delay: true,
  runAt: true,
  priority: true,
  group: true,
  expires: true,
  throttle: true,
  debounce: true,
  idempotencyKey: true,
  trace: true,
}

export function settingsOf(options: RunOptions): Settings {
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(known, key))
  if (unknown !== undefined) {
    throw wrong(`There is no option ${unknown}.`, `The options are tx, ${Object.keys(known).join(', ')}.`)
  }
  const { priority, group, expires, trace } = options
  return {
    ...timeOf(options),
    ...(priority === undefined ? {} : { priority: checkedPriority(priority) }),
    ...(group === undefined ? {} : { group }),
    ...(expires === undefined ? {} : { expiresInMs: durationMs(expires) }),
    ...(trace === undefined ? {} : { trace: checkedTrace(trace) }),
  }
}

function timeOf({ delay, runAt }: RunOptions): Pick<NewRun, 'delayMs' | 'runAt'> {
  if (runAt === undefined) return delay === undefined ? {} : { delayMs: durationMs(delay) }
  if (delay !== undefined) throw wrong('Both delay and runAt are set.', 'Set one of them.')
  if (!(runAt instanceof Date) || Number.isNaN(runAt.getTime())) {
    throw wrong('runAt is not a date.', 'Pass a Date, or use delay for a time relative to now.')
  }
  return runAt.getTime() > Date.now() ? { runAt } : {}
}

function checkedTrace(trace: string): string {
  if (remoteSpanOf(trace) !== undefined) return trace
  throw wrong('trace is not a W3C traceparent.', 'Pass the header traceparent of a request, or leave it out.')
}

function checkedPriority(priority: number): number {
  if (Number.isInteger(priority) && Math.abs(priority) <= 32_767) return priority
  throw new ExplainedError({
    code: 'PRIORITY_INVALID',
    what: `${priority} is not a priority.`,
    why: 'A priority is a whole number from -32767 to 32767; lower numbers run first.',
    fix: 'Use 0 for most runs, and small numbers around it for the others.',
  })
}

function wrong(why: string, fix: string): ExplainedError {
  const what = 'An option of the run is invalid; nothing was enqueued.'
  return new ExplainedError({ code: 'RUN_OPTION_INVALID', what, why, fix })
}
