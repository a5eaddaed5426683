/**
 * Compares the database's clock with the clock of this process. All ages are computed by the database's clock. If it
 * jumps forward (a correction, a failover to a host whose clock is ahead), the last heartbeats of all replicas look old
 * at once, and no replica may be reaped for that.
 *
 * Each heartbeat returns a sample of the clock, taken between request and response. A jump that a sample shows breaks
 * the streak of this replica, because the other replicas have not sent heartbeats since. The reap statement gets the
 * latest time that the clock can show, and so detects a jump after the last heartbeat. Suspension of this machine looks
 * the same and also breaks the streak.
 */
export interface DatabaseClock {
  /** Returns how far the clock jumped since the last sample; undefined if it did not. */
  record(sample: ClockSample): number | undefined
  /** The latest time that the clock can show now, in ms since 1970. */
  latestMs(nowMs: number): number
  /** The earliest time that it can show now, unless it steps back; in ms since 1970. */
  earliestMs(nowMs: number): number
  /** Time since its last step; infinite if there was none. */
  sinceStepMs(nowMs: number): number
  /** How long all samples have shown it run as fast as our clock, without even a small step. */
  steadyForMs(nowMs: number): number
}

export interface ClockSample {
  readonly clockMs: number
  /** When the request was sent, by our monotonic clock. */
  readonly sentMs: number
  readonly receivedMs: number
}

interface Bounds {
  readonly min: number
  readonly max: number
}

/** Allows for slewed clocks and for a statement that starts late. */
const tolerableMs = 2_000
/** How far a slewed clock may drift and still count as steady. */
const slewedMs = 100

export function createDatabaseClock(): DatabaseClock {
  /** The bounds of the difference between the database's clock and ours. */
  let ahead: Bounds | undefined
  /** The bounds that all samples since the last step agree on: a slow response does not widen them. */
  let agreed: Bounds = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  let steadySinceMs = Number.POSITIVE_INFINITY
  let jumpedMs = Number.NEGATIVE_INFINITY

  function compare(sample: Bounds, receivedMs: number): void {
    const stepped = Math.max(sample.min - agreed.max, agreed.min - sample.max) > slewedMs
    if (stepped) steadySinceMs = receivedMs
    agreed = stepped ? sample : { min: Math.max(agreed.min, sample.min), max: Math.min(agreed.max, sample.max) }
  }

  return {
    record({ clockMs, sentMs, receivedMs }) {
      const before = ahead
      ahead = { min: clockMs - receivedMs, max: clockMs - sentMs }
      compare(ahead, receivedMs)
      if (before === undefined) return undefined
      const forwardMs = ahead.min - before.max
      const backMs = before.min - ahead.max
      if (Math.max(forwardMs, backMs) <= tolerableMs) return undefined
      jumpedMs = receivedMs
      return Math.round(forwardMs > 0 ? forwardMs : -backMs)
    },
    earliestMs: (nowMs) => (ahead === undefined ? Number.POSITIVE_INFINITY : nowMs + ahead.min - tolerableMs),
    sinceStepMs: (nowMs) => nowMs - jumpedMs,
    steadyForMs: (nowMs) => Math.max(0, nowMs - steadySinceMs),
    latestMs: (nowMs) => (ahead === undefined ? Number.NEGATIVE_INFINITY : nowMs + ahead.max + tolerableMs),
  }
}
