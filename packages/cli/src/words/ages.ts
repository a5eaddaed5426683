/** Formats durations, ages and times for people. Pure. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** A duration in one unit, for tables: `340 ms`, `1.2 s`, `48 s`, `4 min`, `2 h`, `3 d`. */
export function shortDuration(ms: number): string {
  const length = Math.max(0, ms)
  if (length < 1) return length === 0 ? '0 ms' : '< 1 ms'
  if (length < second) return `${Math.round(length)} ms`
  if (length < 9_950) return `${(length / second).toFixed(1)} s`
  if (length < 2 * minute) return `${Math.round(length / second)} s`
  if (length < 2 * hour) return `${Math.round(length / minute)} min`
  if (length < 2 * day) return `${Math.round(length / hour)} h`
  return `${Math.round(length / day)} d`
}

/** A configured duration: `5 s`, not `5.0 s`. */
export function exact(ms: number): string {
  return shortDuration(ms).replace('.0 s', ' s')
}

/** A duration in two units, for sentences: `48 s`, `3 min 20 s`, `2 h 11 min`, `3 d 4 h`. */
export function long(ms: number): string {
  const length = Math.max(0, ms)
  if (length < 2 * minute) return shortDuration(length)
  if (length < 2 * hour)
    return pair([Math.floor(length / minute), 'min'], [Math.floor((length % minute) / second), 's'])
  if (length < 2 * day) return pair([Math.floor(length / hour), 'h'], [Math.floor((length % hour) / minute), 'min'])
  return pair([Math.floor(length / day), 'd'], [Math.floor((length % day) / hour), 'h'])
}

function pair([more, unit]: readonly [number, string], [less, smaller]: readonly [number, string]): string {
  return less === 0 ? `${more} ${unit}` : `${more} ${unit} ${less} ${smaller}`
}

/** The time until a moment, as minutes and seconds: `1:21`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / second))
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** A moment by the clock of this machine: `13:02:11` today, `yesterday 13:02`, `2026-05-01 13:02` before. */
export function moment(at: Date, now: Date = new Date()): string {
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (isSameDay(at, now)) return `${time}:${two(at.getSeconds())}`
  if (isSameDay(at, new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1))) return `yesterday ${time}`
  if (isSameDay(at, new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1))) return `tomorrow ${time}`
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
}

/** The same with milliseconds, for timelines and logs. */
export function precise(at: Date): string {
  const ms = String(at.getMilliseconds()).padStart(3, '0')
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`
}

/** `4 min ago`, or `in 4 min`. */
export function ago(at: Date, now: Date = new Date()): string {
  const ms = now.getTime() - at.getTime()
  return ms < 0 ? `in ${shortDuration(-ms)}` : `${shortDuration(ms)} ago`
}

function isSameDay(a: Date, b: Date): boolean {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate()
}

function two(part: number): string {
  return String(part).padStart(2, '0')
}
