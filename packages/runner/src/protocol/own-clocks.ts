/**
 * The clocks and timers of this program, taken before it loads a task module. Code of a task may replace the global ones,
 * for instance with fake timers; the thread must still serve its runs, and the times that it reports must stay true.
 */
export const setImmediate: typeof globalThis.setImmediate = globalThis.setImmediate
export const setInterval: typeof globalThis.setInterval = globalThis.setInterval
export const clearInterval: typeof globalThis.clearInterval = globalThis.clearInterval
export const queueMicrotask: typeof globalThis.queueMicrotask = globalThis.queueMicrotask

/** The clock of the machine, in milliseconds since 1970. */
export const wallClockMs: () => number = Date.now

/** The monotonic clock of the thread. */
export const threadClockMs: () => number = performance.now.bind(performance)
