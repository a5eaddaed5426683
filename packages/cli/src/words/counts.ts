/** Formats numbers for people. Pure. */
import type { Bounded } from '@q/store'

/** `12 345` */
export function countText(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ' ')
}

/** `10 000+` where counting stopped. */
export function boundedText({ count: value, atLeast }: Bounded): string {
  return atLeast ? `${countText(value)}+` : countText(value)
}

export function sum(counts: readonly Bounded[]): Bounded {
  return { count: counts.reduce((all, one) => all + one.count, 0), atLeast: counts.some((one) => one.atLeast) }
}

/** Runs per second: `40.1`, `0.02`, `<0.01`. */
export function rateText(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined) return ''
  if (perSecond === 0) return '0'
  if (perSecond < 0.005) return '<0.01'
  if (perSecond < 0.1) return perSecond.toFixed(2)
  return perSecond < 100 ? perSecond.toFixed(1) : countText(perSecond)
}

/** `1 run`, `3 runs`, `10 000+ runs` */
export function plural(value: number | Bounded, one: string, many: string = `${one}s`): string {
  const counted = typeof value === 'number' ? { count: value, atLeast: false } : value
  return `${boundedText(counted)} ${counted.count === 1 && !counted.atLeast ? one : many}`
}
