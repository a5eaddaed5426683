/** Reads a time as people write it: 13:02, 90s, 2h, 3d, yesterday, 2026-11-18, 2026-11-18T13:02. Undefined: it cannot be read. */
const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export function timeOf(text: string, now: number): Date | undefined {
  const typed = text.trim().toLowerCase()
  const [, amount, unit] = /^(\d{1,6})\s*([smhd])(?:in)?(?:\s+ago)?$/.exec(typed) ?? []
  if (amount !== undefined) return new Date(now - Number(amount) * units[unit as keyof typeof units])
  if (typed === 'today') return dayStart(now, 0)
  if (typed === 'yesterday') return dayStart(now, 1)
  const [, hour, minute, second = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(typed) ?? []
  if (hour !== undefined && minute !== undefined)
    return lastTimeOfDay(now, Number(hour), Number(minute), Number(second))
  if (!/^\d{4}-\d{2}-\d{2}/.test(typed)) return undefined
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(typed) ? `${typed}T00:00` : typed.toUpperCase())
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** The last time the clock showed that: yesterday's, if it is still to come today. */
function lastTimeOfDay(now: number, hour: number, minute: number, second: number): Date | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const at = new Date(now)
  at.setHours(hour, minute, second, 0)
  if (at.getTime() > now) at.setDate(at.getDate() - 1)
  return at
}

function dayStart(now: number, daysAgo: number): Date {
  const at = new Date(now)
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() - daysAgo)
  return at
}
