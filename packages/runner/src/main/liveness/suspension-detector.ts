/**
 * Detects that this process was stopped (SIGSTOP, a blocked main thread) or that the machine slept: a check comes much later
 * than planned, on the monotonic clock or on the wall clock, which continues while the machine sleeps.
 */
export interface SuspensionDetector {
  /** Undefined: no suspension since the last check. `nextInMs` is when the next check is planned. */
  check(monotonicMs: number, wallMs: number, nextInMs: number): Suspension | undefined
}

export interface Suspension {
  /** How long the process could do nothing. */
  readonly stoppedMs: number
  /** The part of it that the monotonic clock did not count. */
  readonly asleepMs: number
}

const tolerableMs = 1_000

export function createSuspensionDetector(): SuspensionDetector {
  let last: { monotonicMs: number; wallMs: number; nextInMs: number } | undefined
  return {
    check(monotonicMs, wallMs, nextInMs) {
      const before = last
      last = { monotonicMs, wallMs, nextInMs }
      if (before === undefined) return undefined
      const passedMs = monotonicMs - before.monotonicMs
      const difference = wallMs - before.wallMs - passedMs
      const asleepMs = difference > tolerableMs ? difference : 0
      const stoppedMs = passedMs + asleepMs - before.nextInMs
      return stoppedMs > tolerableMs ? { stoppedMs, asleepMs } : undefined
    },
  }
}
