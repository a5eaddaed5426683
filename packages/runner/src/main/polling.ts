/**
 * The time until the next poll of a loop that wakes also start. Polls find work whose wake was lost. While the session of
 * this replica answers and polls find nothing, each interval is twice as long as the one before, up to a bound. A poll
 * that finds work, or a lost session, resets it to the usual interval.
 */
export interface Polling {
  /** There was work: the next poll comes soon. */
  found(): void
  /** How long to wait for the next poll; called once for each. */
  nextMs(): number
}

/** A poll never waits longer, unless its usual interval is longer. */
const quietMsMax = 10_000

/** `canBeWoken`: whether wakes can reach this replica. */
export function createPolling(everyMs: number, canBeWoken: () => boolean): Polling {
  let empty = 0
  return {
    found() {
      empty = 0
    },
    nextMs() {
      if (!canBeWoken()) empty = 0
      const ms = Math.min(everyMs * 2 ** empty, Math.max(everyMs, quietMsMax))
      empty++
      return ms
    },
  }
}
