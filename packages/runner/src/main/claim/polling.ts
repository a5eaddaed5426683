/**
 * Decides how long a loop waits for a wake before it polls. Polls find work whose wake was lost. While wakes can reach the
 * replica and polls find nothing, the interval doubles, up to a bound. A poll that finds work or a lost session resets it.
 */
export interface Polling {
  /** Work was found: resets the interval. */
  found(): void
  /** The time until the next poll. Each call counts as a poll that found nothing. */
  nextMs(): number
}

/** The longest interval, unless `everyMs` is longer. */
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
