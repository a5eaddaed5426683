/**
 * Parses times: `90s` (ago), `13:02` (today), `yesterday`, `2026-05-01`, or an ISO time, by the clock of this machine.
 */
import { ExplainedError } from '@q/schema'
import { durationMs } from '@q/task'

export function parseTime(text: string, now: Date = new Date()): Date {
  const trimmed = text.trim().toLowerCase()
  const clock = /^(?:(yesterday)[ t]?)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(trimmed)
  if (clock !== null && isTimeOfDay(clock)) return byClock(now, clock)
  if (trimmed === 'now') return now
  if (trimmed === 'today') return dayStart(now, 0)
  if (trimmed === 'yesterday') return dayStart(now, -1)
  if (/^\d+(\.\d+)? ?(ms|s|m|h|d)$/.test(trimmed)) return new Date(now.getTime() - agoMs(trimmed))
  // A date without a time is midnight in the local time zone.
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(trimmed) ? `${trimmed}T00:00:00` : text.trim())
  if (/^\d{4}-/.test(trimmed) && !Number.isNaN(at.getTime())) return at
  throw new ExplainedError({
    code: 'TIME_INVALID',
    what: `"${text}" is not a time.`,
    why: 'No known way to write a time fits.',
    fix: 'Write 90s, 2m, 1h or 3d (ago), 13:02, yesterday, 2026-05-01, or 2026-05-01T13:02:00Z.',
  })
}

function isTimeOfDay([, , hours, minutes, seconds = '0']: RegExpExecArray): boolean {
  return Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) <= 59
}

function agoMs(text: string): number {
  return durationMs(text.replaceAll(' ', ''))
}

function byClock(now: Date, [, yesterday, hours, minutes, seconds]: RegExpExecArray): Date {
  const at = dayStart(now, yesterday === undefined ? 0 : -1)
  at.setHours(Number(hours), Number(minutes), Number(seconds ?? 0))
  // At 00:10, `23:50` means the previous evening.
  if (yesterday === undefined && at > now) at.setDate(at.getDate() - 1)
  return at
}

function dayStart(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days)
}
