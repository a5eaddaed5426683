/** Medians and ranges. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
  readonly count: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value below which the given share of all values lies, by the nearest rank. */
export function nearestRank(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values), count: values.length }
}

/** Whether two ranges share a value: then the difference is not resolved. */
export function overlaps(one: Spread, other: Spread): boolean {
  return one.least <= other.most && other.least <= one.most
}
