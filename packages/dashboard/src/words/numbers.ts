/** Numbers as the page writes them: thousands apart by a space that does not break, bounded counts with a plus. */
import type { Bounded } from '../api/contract.ts'

const space = '\u00a0'

/** 1 204 */
export function countLabel(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, space)
}

/** 10 000+ when the count stopped at its bound. */
export function boundedLabel({ count: value, atLeast }: Bounded): string {
  return `${countLabel(value)}${atLeast ? '+' : ''}`
}

/** at least 10 000 when the count stopped at its bound, else the exact number: for a sentence that a person confirms. */
export function boundedPhrase({ count: value, atLeast }: Bounded): string {
  return atLeast ? `at least ${countLabel(value)}` : countLabel(value)
}

/** Runs per second: 9.2, 120; a dash when it was not recorded. */
export function rate(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined) return '–'
  if (perSecond > 0 && perSecond < 0.05) return '<0.1'
  return perSecond >= 100 ? countLabel(perSecond) : perSecond.toFixed(1)
}

export function percent(value: number): string {
  return `${Math.round(value)}${space}%`
}

/** 410 MB, 1.4 GB */
export function megabytes(mb: number): string {
  return mb >= 1_000 ? `${(mb / 1_024).toFixed(1)}${space}GB` : `${Math.round(mb)}${space}MB`
}

/** 186 B, 4.1 kB, 2.0 MB */
export function bytes(size: number): string {
  if (size < 1_000) return `${size}${space}B`
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)}${space}kB`
  return `${(size / 1_000_000).toFixed(1)}${space}MB`
}

/** 1 run, 12 runs */
export function several(value: number, one: string, many = `${one}s`): string {
  return `${countLabel(value)}${space}${value === 1 ? one : many}`
}
