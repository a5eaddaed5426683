/** Rates from the counts of one point of a series. Pure. */

/** How late replicas may flush their counts. */
export const flushMs = 15_000

export const countedOutcomes = ['started', 'succeeded', 'failed', 'retried', 'cancelled', 'crashed'] as const
export type Counts = Readonly<Record<(typeof countedOutcomes)[number], number>>

/**
 * The counts divided by the age of the point in seconds. A point that is younger than a flush has no rates: its counts are
 * missing, or they are those of ten seconds and would be divided by one.
 */
export function perSecond(counts: Counts | undefined, seconds: number): Partial<Counts> {
  if (seconds * 1_000 < flushMs) return {}
  return Object.fromEntries(countedOutcomes.map((name) => [name, (counts?.[name] ?? 0) / seconds]))
}
