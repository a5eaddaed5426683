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
  /** What it must show now at least; in ms since 1970. */
  earliestMs(nowMs: number): number
  /** Since the last jump; infinite if there was none. */
  sinceStepMs(nowMs: number): number
  /** For how long every answer has shown it running as our clock does, without even a small step. */
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
/** What clocks that are slewed may differ by while they count as steady. */
const slewedMs = 100

export function createDatabaseClock(): DatabaseClock {
  /** What is added to our clock for theirs: at least, at most. */
  let ahead: Bounds | undefined
  /** What all answers agree on since the last step: a slow one says little, and widens nothing. */
  let agreed: Bounds = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  let steadySinceMs = Number.POSITIVE_INFINITY
  let jumpedMs = Number.NEGATIVE_INFINITY

  function compare(told: Bounds, heardMs: number): void {
    const stepped = Math.max(told.min - agreed.max, agreed.min - told.max) > slewedMs
    if (stepped) steadySinceMs = heardMs
    agreed = stepped ? told : { min: Math.max(agreed.min, told.min), max: Math.min(agreed.max, told.max) }
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
