/**
 * Reads a time as people write it: `90s` or `2h ago`, `13:02`, `yesterday 13:02`, `2026-05-01`, or an ISO time, by the clock and
 * the time zone of this machine. The page and `q` share it, so that both read the same times.
 */
const units = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Ten years. */
const agoMsMax = 3_650 * units.d

export const waysToWriteTimes =
  'Write 90s, 2m, 1h or 3d (ago), 13:02, yesterday, yesterday 13:02, 2026-05-01, or 2026-05-01T13:02:00Z.'

/** Undefined: it is not a time. */
export function timeOf(text: string, now: number): Date | undefined {
  const typed = text.trim().toLowerCase()
  if (typed === 'now') return new Date(now)
  if (typed === 'today') return dayStart(now, 0)
  if (typed === 'yesterday') return dayStart(now, 1)
  return timeAgo(typed, now) ?? clockTime(typed, now) ?? isoTime(typed)
}

function timeAgo(typed: string, now: number): Date | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)(?:\s+ago)?$/.exec(typed) ?? []
  const ms = Math.round(Number(amount) * units[unit as keyof typeof units])
  return ms <= agoMsMax ? new Date(now - ms) : undefined
}

/** The last time the clock showed it: yesterday's, if it is still to come today. */
function clockTime(typed: string, now: number): Date | undefined {
  const [, yesterday, ...parts] = /^(?:(yesterday)[ t]?)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(typed) ?? []
  const [hour = 24, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const at = dayStart(now, yesterday === undefined ? 0 : 1)
  at.setHours(hour, minute, second)
  if (at.getTime() > now) at.setDate(at.getDate() - 1)
  return at
}

/** A date without a time is midnight. JavaScript would read 2026-02-30 as 2 March. */
function isoTime(typed: string): Date | undefined {
  const [, date = '', time = '00:00', zone = ''] =
    /^(\d{4}-\d{2}-\d{2})(?:[t ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(z|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(typed) ?? []
  // `psql` prints +02, which JavaScript does not read.
  const at = new Date(`${date}T${time}${/^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone.toUpperCase()}`)
  return isDate(date) && !Number.isNaN(at.getTime()) ? at : undefined
}

function isDate(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}

function dayStart(now: number, daysAgo: number): Date {
  const at = new Date(now)
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() - daysAgo)
  return at
}
