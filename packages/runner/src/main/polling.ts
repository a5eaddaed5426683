/**
 * How long a loop that wakes bring back waits for its next poll. Polls are for wakes that were lost. While the session
 * of this replica answers, and polls find nothing, each waits twice as long as the one before, up to a bound. A poll
 * that finds work, or a session that is lost, brings back the usual interval.
 */
export interface Polling {
  /** There was work: the next poll comes soon. */
  found(): void
  /** How long to wait for the next poll; called once for each. */
  nextMs(): number
}

/** A poll never waits longer, unless its usual interval is longer. */
const quietMsMax = 10_000

/** `hears`: whether wakes can reach this replica. */
export function createPolling(everyMs: number, hears: () => boolean): Polling {
  let empty = 0
  return {
    found() {
      empty = 0
    },
    nextMs() {
      if (!hears()) empty = 0
      const ms = Math.min(everyMs * 2 ** empty, Math.max(everyMs, quietMsMax))
      empty++
      return ms
    },
  }
}
