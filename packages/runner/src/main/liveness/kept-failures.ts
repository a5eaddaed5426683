/**
 * Failed heartbeats that are recorded once the database answers again. Bounded: the oldest are dropped, except for the
 * one that raised the alert, because its record is also the alert for destinations.
 */

/** Failed heartbeats in a row that raise an alert. */
export const alertAfterFailures = 3
const keptMax = 100

export function keepFailure<Failure extends { readonly consecutive: number }>(
  kept: readonly Failure[],
  failure: Failure,
): Failure[] {
  const all = [...kept, failure]
  const oldest = all.findIndex(({ consecutive }) => consecutive !== alertAfterFailures)
  return all.length <= keptMax ? all : all.toSpliced(Math.max(oldest, 0), 1)
}
