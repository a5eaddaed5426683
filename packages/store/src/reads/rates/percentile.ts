/**
 * Percentiles of a histogram of durations. Element k (from 0) counts durations up to 2^(k/2) ms and longer than the
 * element before; the last has no upper bound. So a percentile is off by 19 % at most. Pure.
 */

/** Elements of a histogram. */
const histogramSize = 60

/** Null: the histogram is empty. */
export function percentile(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  const element = histogram.findIndex((count) => (seen += count) >= share * total)
  return middleOf(element)
}

/** The geometric middle of an element, whose ends differ by a factor of √2. */
function middleOf(element: number): number {
  const ms = element === histogramSize - 1 ? 2 ** ((element - 1) / 2) : 2 ** ((element - 0.5) / 2)
  return ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms)
}
