/**
 * Sees that this process was stopped (SIGSTOP, a blocked main thread) or the machine was asleep: a look that comes much
 * later than it was meant to, on the monotonic clock or on the wall clock, which goes on in a suspended machine.
 */
export interface ClockWatch {
  /** Undefined: time went by as it should. */
  look(monotonicMs: number, wallMs: number): Jump | undefined
}

export interface Jump {
  /** How long nothing could be done here. */
  readonly stoppedMs: number
  /** Part of it that the monotonic clock did not count. */
  readonly asleepMs: number
}

const tolerableMs = 1_000

export function createClockWatch(lookEveryMs: number): ClockWatch {
  let last: { monotonicMs: number; wallMs: number } | undefined
  return {
    look(monotonicMs, wallMs) {
      const before = last
      last = { monotonicMs, wallMs }
      if (before === undefined) return undefined
      const passedMs = monotonicMs - before.monotonicMs
      const difference = wallMs - before.wallMs - passedMs
      const asleepMs = difference > tolerableMs ? difference : 0
      const stoppedMs = passedMs + asleepMs - lookEveryMs
      return stoppedMs > tolerableMs ? { stoppedMs, asleepMs } : undefined
    },
  }
}
