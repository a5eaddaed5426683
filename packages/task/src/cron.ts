/**
 * Computes the ticks of a cron pattern in its time zone. Pure: the caller passes the time. No other file uses croner.
 *
 * Daylight saving time: a time of day that is skipped ticks once, at the end of the gap; one that is repeated ticks
 * once, the first time. Patterns without a single time of day (`*`, lists, ranges, steps) follow elapsed minutes: they
 * leave out skipped minutes and tick in both of the repeated hours.
 */
import { Cron } from 'croner'

export interface Pattern {
  readonly cron: string
  readonly timezone: string
}

/** The problem of a pattern or time zone as a sentence; undefined if it is valid. */
export function cronProblem(cron: unknown): string | undefined {
  if (typeof cron !== 'string' || !isPattern(cron)) return `${quoted(cron)} has not five or six fields`
  try {
    return parsed({ cron, timezone: 'UTC' }).nextRun() === null ? `${quoted(cron)} never ticks` : undefined
  } catch (error) {
    return `${quoted(cron)}: ${error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)}`
  }
}

export function timezoneProblem(timezone: unknown): string | undefined {
  if (typeof timezone !== 'string') return `${quoted(timezone)} is no text`
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format()
    // Intl accepts offsets as time zones; croner does not.
    return /^[a-z]/i.test(timezone) ? undefined : `${quoted(timezone)} is no name`
  } catch {
    return `there is no time zone ${quoted(timezone)} here`
  }
}

/**
 * Returns the first tick after a time; undefined if the pattern never ticks again.
 *
 * In some years croner's `nextRun` misses 1 or 2 March if a pattern names both days of the month and days of the week.
 * `previousRuns` misses none, so this walks back from the tick that `nextRun` found.
 */
export function nextTick(pattern: Pattern, after: Date): Date | undefined {
  const clock = parsed(pattern)
  let first = clock.nextRun(after) ?? undefined
  for (let earlier = first; earlier !== undefined && earlier > after; [earlier] = clock.previousRuns(1, earlier)) {
    first = earlier
  }
  return first
}

/** The ticks after `after` and up to `upTo` inclusive, oldest first; if there are more than `countMax`, the newest. */
export function ticksBetween(pattern: Pattern, after: Date, upTo: Date, countMax: number): Date[] {
  const clock = parsed(pattern)
  const ticks: Date[] = []
  // croner returns only ticks before the given second.
  let before = new Date((Math.floor(upTo.getTime() / 1_000) + 1) * 1_000)
  while (ticks.length < countMax) {
    const [tick] = clock.previousRuns(1, before)
    if (tick === undefined || tick <= after) break
    ticks.push(tick)
    before = tick
  }
  return ticks.toReversed()
}

function parsed({ cron, timezone }: Pattern): Cron {
  return new Cron(cron, { timezone, mode: '5-or-6-parts' })
}

/** Rejects dates, which croner accepts as patterns that tick once. */
function isPattern(cron: string): boolean {
  const fields = cron.trim().split(/\s+/)
  return fields.length === 5 || fields.length === 6 || /^@[a-z]+$/i.test(cron.trim())
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 100)}"` : String(value)
}
