/** Formats durations and counts for sentences. Pure. */
import type { Bounded } from './bounded.ts'

export function inWords(ms: number): string {
  const s = Math.max(0, ms) / 1_000
  if (s < 120) return `${s.toFixed(s < 10 ? 1 : 0)} s`
  if (s < 7_200) return `${Math.round(s / 60)} min`
  return s < 172_800 ? `${Math.round(s / 3_600)} h` : `${Math.round(s / 86_400)} days`
}

/** Returns `10 000+` if there may be more. */
function countInWords({ count, atLeast }: Bounded): string {
  return `${String(count).replaceAll(/\B(?=(\d{3})+$)/g, ' ')}${atLeast ? '+' : ''}`
}

/** Returns `1 run`, `2 runs`. */
export function counted(count: Bounded, one: string, many: string = `${one}s`): string {
  return `${countInWords(count)} ${count.count === 1 && !count.atLeast ? one : many}`
}
