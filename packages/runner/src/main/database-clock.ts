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
  /** The least that it can show now, unless it steps back; in ms since 1970. */
  earliestMs(nowMs: number): number
  /** Time since its last step; infinite if there was none. */
  sinceStepMs(nowMs: number): number
  /** For how long all answers have shown it run as fast as our clock, without even a small step. */
  steadyForMs(nowMs: number): number
}

export interface Told {
  readonly clockMs: number
  /** The question and its answer, by our monotonic clock. */
  readonly sentMs: number
  readonly heardMs: number
}

interface Bounds {
  readonly min: number
  readonly max: number
}

/** For clocks that are slewed, and for a statement that is slow to begin. */
const tolerableMs = 2_000
/** How far a clock that is slewed may drift while it counts as steady. */
const slewedMs = 100

export function createDatabaseClock(): DatabaseClock {
  /** What is added to our clock for theirs: at least, at most. */
  let ahead: Bounds | undefined
  /** The bounds that all answers since the last step agree on: a slow answer does not widen them. */
  let agreed: Bounds = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  let steadySinceMs = Number.POSITIVE_INFINITY
  let jumpedMs = Number.NEGATIVE_INFINITY

  function compare(sample: Bounds, heardMs: number): void {
    const stepped = Math.max(sample.min - agreed.max, agreed.min - sample.max) > slewedMs
    if (stepped) steadySinceMs = heardMs
    agreed = stepped ? sample : { min: Math.max(agreed.min, sample.min), max: Math.min(agreed.max, sample.max) }
  }

  return {
    heard({ clockMs, sentMs, heardMs }) {
      const before = ahead
      ahead = { min: clockMs - heardMs, max: clockMs - sentMs }
      compare(ahead, heardMs)
      if (before === undefined) return undefined
      const forwardMs = ahead.min - before.max
      const backMs = before.min - ahead.max
      if (Math.max(forwardMs, backMs) <= tolerableMs) return undefined
      jumpedMs = heardMs
      return Math.round(forwardMs > 0 ? forwardMs : -backMs)
    },
    earliestMs: (nowMs) => (ahead === undefined ? Number.POSITIVE_INFINITY : nowMs + ahead.min - tolerableMs),
    sinceStepMs: (nowMs) => nowMs - jumpedMs,
    steadyForMs: (nowMs) => Math.max(0, nowMs - steadySinceMs),
    latestMs: (nowMs) => (ahead === undefined ? Number.NEGATIVE_INFINITY : nowMs + ahead.max + tolerableMs),
  }
}
