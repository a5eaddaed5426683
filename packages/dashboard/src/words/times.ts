/** Times of day in the zone of the browser; the day is added when it is not today. */
const parts = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', options)
const toMinute = parts({ hour: '2-digit', minute: '2-digit' })
const toSecond = parts({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dayOnly = parts({ day: 'numeric', month: 'short' })
const complete = parts({ dateStyle: 'full', timeStyle: 'long' })

/** 14:26 */
export function hourMinute(at: Date): string {
  return toMinute.format(at)
}

/** 14:26:50 */
export function clockTime(at: Date): string {
  return toSecond.format(at)
}

/** 14:26:50.412 */
export function exactTime(at: Date): string {
  return `${toSecond.format(at)}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** 14:26, or 17 Nov 14:26 when it was another day. */
export function dayTime(at: Date, now: Date): string {
  return isSameDay(at, now) ? toMinute.format(at) : `${dayOnly.format(at)} ${toMinute.format(at)}`
}

/** For tooltips: the whole date with its zone. */
export function wholeDate(at: Date): string {
  return complete.format(at)
}

function isSameDay(a: Date, b: Date): boolean {
  return a.toDateString() === b.toDateString()
}
