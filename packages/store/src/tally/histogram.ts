/**
 * Histograms of durations with fixed buckets, each √2 times as wide as the previous one. Histograms of all replicas,
 * minutes and days can be added, and a percentile read from them is off by at most 19 %. Pure.
 */

/** The last bucket has no upper bound; the one before it ends at 6.2 days. */
const histogramBuckets = 60

/** Bucket i counts durations up to 2^(i/2) ms that are longer than those of the previous bucket. */
export function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(histogramBuckets - 1, Math.ceil(2 * Math.log2(ms)))
}

export function bucketEndMs(bucket: number): number {
  return 2 ** (bucket / 2)
}

/** Adds a duration to counts, and extends them if needed; `times` -1 removes it again. */
export function countTime(counts: number[], ms: number, times = 1): void {
  const bucket = bucketOf(ms)
  while (counts.length <= bucket) counts.push(0)
  counts[bucket] = (counts[bucket] ?? 0) + times
}

/** Adds one histogram to another. */
export function addHistogram(sum: number[], counts: readonly number[]): void {
  while (sum.length < counts.length) sum.push(0)
  for (const [bucket, count] of counts.entries()) sum[bucket] = (sum[bucket] ?? 0) + count
}
