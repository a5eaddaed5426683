/** What one run can be given beside its payload. All of it is checked before anything is looked up or sent. */
import { ExplainedError } from '@q/schema'
import type { NewRun } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import type { TransactionHandle } from './transaction.ts'
import type { WindowOptions } from './windows.ts'

export interface RunOptions extends WindowOptions {
  /** Not before this much time has passed: `'5m'`. By the database's clock. */
  readonly delay?: Duration
  /** Not before this time; at once if it has passed by the clock of this process. Not together with `delay`. */
  readonly runAt?: Date
  /** Lower numbers first. Default: the task's, else 0. */
  readonly priority?: number
  /** Runs of a group share its queue fairly with the other groups: a tenant, a project. */
  readonly group?: string
  /** No attempt begins later than this after now: EXPIRED. Default: the task's. */
  readonly expires?: Duration
}

export interface EnqueueOptions extends RunOptions {
  /** The caller's own transaction: the run is there with its commit, and a rollback leaves nothing. */
  readonly tx?: TransactionHandle
}

type Settings = Pick<NewRun, 'delayMs' | 'runAt' | 'priority' | 'group' | 'expiresInMs'>

const known: Record<keyof RunOptions, true> = {
  delay: true,
  runAt: true,
  priority: true,
  group: true,
  expires: true,
  throttle: true,
  debounce: true,
}

export function settingsOf(options: RunOptions): Settings {
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(known, key))
  if (unknown !== undefined) {
    throw wrong(`There is no option ${unknown}.`, `There are tx, ${Object.keys(known).join(', ')}.`)
  }
  const { priority, group, expires } = options
  return {
    ...timeOf(options),
    ...(priority === undefined ? {} : { priority: checkedPriority(priority) }),
    ...(group === undefined ? {} : { group }),
    ...(expires === undefined ? {} : { expiresInMs: durationMs(expires) }),
  }
}

function timeOf({ delay, runAt }: RunOptions): Pick<NewRun, 'delayMs' | 'runAt'> {
  if (runAt === undefined) return delay === undefined ? {} : { delayMs: durationMs(delay) }
  if (delay !== undefined) throw wrong('delay and runAt were both given.', 'Give one of them.')
  if (!(runAt instanceof Date) || Number.isNaN(runAt.getTime())) {
    throw wrong('runAt is not a date.', 'Pass a Date, or delay for a time from now.')
  }
  return runAt.getTime() > Date.now() ? { runAt } : {}
}

function checkedPriority(priority: number): number {
  if (Number.isInteger(priority) && Math.abs(priority) <= 32_767) return priority
  throw new ExplainedError({
    code: 'PRIORITY_INVALID',
    what: `${priority} is not a priority.`,
    why: 'A priority is a whole number from -32767 to 32767; lower numbers run first.',
    fix: 'Use 0 for most runs and small numbers around it.',
  })
}

function wrong(why: string, fix: string): ExplainedError {
  const what = 'An option of a run cannot be used; nothing was enqueued.'
  return new ExplainedError({ code: 'RUN_OPTION_INVALID', what, why, fix })
}
