/**
 * The clocks and timers of this program, taken before it loads a task module. Code of a task may replace the global ones,
 * for instance with fake timers; the thread must still serve its runs, and the times that it reports must stay true.
 */
interface OwnClocks {
  readonly setImmediate: typeof setImmediate
  readonly setInterval: typeof setInterval
  readonly clearInterval: typeof clearInterval
  readonly queueMicrotask: typeof queueMicrotask
  readonly hrtime: () => [seconds: number, nanoseconds: number]
  /** The clock of the machine, in milliseconds since 1970. */
  readonly wallMs: () => number
  /** The monotonic clock of the thread. */
  readonly threadMs: () => number
}

/** One object: a test replaces its members. */
export const ownClocks: OwnClocks = {
  setImmediate,
  setInterval,
  clearInterval,
  queueMicrotask,
  hrtime: process.hrtime,
  wallMs: Date.now,
  threadMs: performance.now.bind(performance),
}
