/** Durations as people say them. Two units at most, and no more digits than the length deserves. */
const space = '\u00a0'
const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** 340 ms, 1.2 s, 48 s, 4 min 12 s, 2 h 05 min, 2 d 4 h */
export function duration(ms: number): string {
  const s = Math.max(0, ms) / 1_000
  if (s < 0.9995) return `${Math.round(s * 1_000)}${space}ms`
  if (s < 9.95) return `${s.toFixed(1)}${space}s`
  if (s < minute - 0.5) return `${Math.round(s)}${space}s`
  if (s < hour - 0.5) return inTwo(Math.round(s), minute, 'min', 1, 's')
  if (s < day - minute / 2) return inTwo(Math.round(s / minute), minute, 'h', 1, 'min')
  return daysAndHours(Math.round(s / hour))
}

/** One unit: 8 s, 4 min, 3 h, 6 d. For ages, where the second unit is noise. */
export function roughly(ms: number): string {
  const s = Math.max(0, ms) / 1_000
  if (s < minute) return `${Math.floor(s)}${space}s`
  if (s < hour) return `${Math.floor(s / minute)}${space}min`
  if (s < day) return `${Math.floor(s / hour)}${space}h`
  return `${Math.floor(s / day)}${space}d`
}

/** 2 min ago, in 40 s, now */
export function relative(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now'
  return ms > 0 ? `${roughly(ms)} ago` : `in ${roughly(-ms)}`
}

/** The age of a heartbeat in seconds, beside its threshold: 4.2, 34. */
export function seconds(ms: number): string {
  const s = Math.max(0, ms) / 1_000
  return s < 9.95 ? s.toFixed(1) : String(Math.round(s))
}

/** The way the CLI reads it: 90s, 2m, 1h. */
export function cliDuration(ms: number): string {
  const s = Math.round(ms / 1_000)
  if (s % hour === 0) return `${s / hour}h`
  return s % minute === 0 ? `${s / minute}m` : `${s}s`
}

function inTwo(value: number, per: number, large: string, digits: number, small: string): string {
  const rest = value % per
  const first = `${Math.floor(value / per)}${space}${large}`
  if (rest === 0) return first
  return `${first} ${String(rest).padStart(digits + 1, '0')}${space}${small}`
}

function daysAndHours(hours: number): string {
  const rest = hours % 24
  return `${Math.floor(hours / 24)}${space}d${rest === 0 ? '' : ` ${rest}${space}h`}`
}
