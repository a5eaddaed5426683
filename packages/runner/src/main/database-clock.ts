/**
 * Whether the database's clock goes as ours does. All ages are reckoned by that clock: if it jumps forward (a correction,
 * a failover to a host whose clock is ahead), everybody's last beat is suddenly old, and nobody is to be reaped for that.
 *
 * Each beat tells what it showed, at some moment between question and answer. A jump since the last beat is seen by the
 * statement that judges, which is told what the clock can show at most; one that a beat shows begins our trust again,
 * because others have not beaten since. Time that this machine slept through looks the same, and ends trust too.
 */
export interface DatabaseClock {
  /** How far it jumped since the last time; undefined: it went as ours did. */
  heard(told: Told): number | undefined
  /** What it can show now at most; in ms since 1970. */
  latestMs(nowMs: number): number
}

export interface Told {
  readonly clockMs: number
  /** The question and its answer, by our monotonic clock. */
  readonly sentMs: number
  readonly heardMs: number
}

/** For clocks that are slewed, and for a statement that is slow to begin. */
const tolerableMs = 2_000

export function createDatabaseClock(): DatabaseClock {
  /** What is added to our clock for theirs: at least, at most. */
  let ahead: { readonly min: number; readonly max: number } | undefined
  return {
    heard({ clockMs, sentMs, heardMs }) {
      const before = ahead
      ahead = { min: clockMs - heardMs, max: clockMs - sentMs }
      if (before === undefined) return undefined
      const forwardMs = ahead.min - before.max
      const backMs = before.min - ahead.max
      if (forwardMs > tolerableMs) return Math.round(forwardMs)
      return backMs > tolerableMs ? -Math.round(backMs) : undefined
    },
    latestMs: (nowMs) => (ahead === undefined ? Number.NEGATIVE_INFINITY : nowMs + ahead.max + tolerableMs),
  }
}
