/**
 * When a pattern ticks, in the time zone it is read in. Pure: whoever asks says what time it is. The only file that
 * knows croner.
 *
 * Where clocks change: a time of day that does not exist ticks once, when the gap is over; one that comes twice ticks
 * once, the first time. Patterns that name no single time of day (`*`, lists, ranges and steps) go by the minutes that
 * really pass: they leave out the ones that do not exist and tick in both hours that have the same name.
 */
import { Cron } from 'croner'

export interface Pattern {
  readonly cron: string
  readonly timezone: string
}

/** What is wrong with it, as a sentence; undefined: nothing. */
export function cronProblem(cron: unknown): string | undefined {
  if (typeof cron !== 'string' || !isPattern(cron)) return `${told(cron)} has not five or six fields`
  try {
    return parsed({ cron, timezone: 'UTC' }).nextRun() === null ? `${told(cron)} never comes` : undefined
  } catch (error) {
    return `${told(cron)}: ${error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)}`
  }
}

export function timezoneProblem(timezone: unknown): string | undefined {
  if (typeof timezone !== 'string') return `${told(timezone)} is no text`
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format()
    // Offsets are zones to Intl, not to croner.
    return /^[a-z]/i.test(timezone) ? undefined : `${told(timezone)} is no name`
  } catch {
    return `there is no time zone ${told(timezone)} here`
  }
}

/**
 * Returns the first tick after a time; undefined: the pattern never ticks again.
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

/** Those after one moment and up to another, that one included, oldest first; of too many the newest. */
export function ticksBetween(pattern: Pattern, after: Date, upTo: Date, countMax: number): Date[] {
  const clock = parsed(pattern)
  const ticks: Date[] = []
  // croner looks before the second it is given.
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

/** A date, which croner takes for a pattern that comes once, is none to us. */
function isPattern(cron: string): boolean {
  const fields = cron.trim().split(/\s+/)
  return fields.length === 5 || fields.length === 6 || /^@[a-z]+$/i.test(cron.trim())
}

function told(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 100)}"` : String(value)
}
