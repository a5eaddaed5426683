/** What an enqueue may say beside its payload, and what that means for the run: it goes before what its task says. */
import { ExplainedError } from '@q/schema'
import type { NewRun } from '@q/store'
import { durationMs, type Duration } from '@q/task'
import type { WindowOptions } from './windows.ts'

export interface EnqueueOptions extends WindowOptions {
  /** Not before this much time has passed: `'5m'`. */
  readonly delay?: Duration
  /** Lower numbers first; default: the task's, or 0. */
  readonly priority?: number
  /** Runs of one group share their queue fairly with those of others: a tenant, a project. */
  readonly group?: string
  /** No attempt begins later than this after now: EXPIRED. Default: the task's. */
  readonly expires?: Duration
}

export function settingsOf({ delay, priority, group, expires }: EnqueueOptions): Partial<NewRun> {
  return {
    ...(priority === undefined ? {} : { priority: checkedPriority(priority) }),
    ...(delay === undefined ? {} : { delayMs: durationMs(delay) }),
    ...(group === undefined ? {} : { group }),
    ...(expires === undefined ? {} : { expiresInMs: durationMs(expires) }),
  }
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
