/**
 * The times of a schedule: a cron pattern, or an interval that a pattern can express. `every` is short for a pattern:
 * it is aligned with the wall clock and is not a timer.
 */
import { cronProblem, timezoneProblem } from './cron.ts'
import type { Missed } from './due-ticks.ts'
import { durationMs, type Duration } from './duration.ts'

export interface ScheduleOptions {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds in front. */
  readonly cron?: string
  /** Instead of `cron`; must divide the next larger unit: `1s`, `15s`, `5m`, `2h`, `1d`. */
  readonly every?: Duration
  /** IANA name, for instance Europe/Berlin. Default: UTC. */
  readonly timezone?: string
  /** Which ticks that passed while no replica was running are enqueued: none, the newest (default), or all up to 100. */
  readonly missed?: Missed
}

export interface ScheduleData {
  readonly cron: string
  readonly timezone: string
  readonly missed: Missed
}

/** Returns every problem, each with the key of its option. */
export function scheduleProblems({ cron, every, timezone, missed }: ScheduleOptions): string[] {
  const problems: string[] = []
  const say = (key: string, problem: string | undefined) => problem !== undefined && problems.push(`${key}: ${problem}`)
  if (cron !== undefined) say('cron', cronProblem(cron))
  if (cron !== undefined && every !== undefined) say('every', 'cannot be combined with cron')
  else if (every !== undefined && everyAsCron(every) === undefined) say('every', everyRule)
  if (timezone !== undefined) say('timezone', timezoneProblem(timezone))
  if (missed !== undefined && !['skip', 'one', 'all'].includes(missed)) say('missed', "must be 'skip', 'one' or 'all'")
  return problems
}

/** Converts valid options; undefined if they have neither cron nor every. */
export function scheduleData({ cron, every, timezone, missed }: ScheduleOptions): ScheduleData | undefined {
  const pattern = cron ?? (every === undefined ? undefined : everyAsCron(every))
  return pattern === undefined ? undefined : { cron: pattern, timezone: timezone ?? 'UTC', missed: missed ?? 'one' }
}

const everyRule = 'must divide a minute, an hour or a day, in whole seconds: 1s, 15s, 5m, 2h, 1d; otherwise use cron'

const units = [
  { ms: 1_000, count: 60, pattern: (step: string) => `${step} * * * * *` },
  { ms: 60_000, count: 60, pattern: (step: string) => `0 ${step} * * * *` },
  { ms: 3_600_000, count: 24, pattern: (step: string) => `0 0 ${step} * * *` },
] as const

function everyAsCron(every: unknown): string | undefined {
  const ms = msOf(every)
  if (ms === 86_400_000) return '0 0 0 * * *'
  for (const unit of units) {
    const step = ms / unit.ms
    if (Number.isInteger(step) && step >= 1 && step < unit.count && unit.count % step === 0) {
      return unit.pattern(step === 1 ? '*' : `*/${step}`)
    }
  }
  return undefined
}

function msOf(every: unknown): number {
  try {
    return typeof every === 'string' || typeof every === 'number' ? durationMs(every) : Number.NaN
  } catch {
    return Number.NaN
  }
}
