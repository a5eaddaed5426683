/**
 * SIGTERM and Ctrl-C, from the first moment on. Before there is a runner nothing has been claimed, and boot ends at the
 * next point where it can; asked again, at once. As soon as there is one, each signal drains it.
 */
import type { Runner } from './main/runner.ts'
import { exitCodes } from './problem.ts'

export interface Signals {
  /** Aborts at the first wish. */
  readonly leaving: AbortSignal
  obey(runner: Runner): void
}

/** Ctrl-C reaches us twice, from the terminal and from the package manager: that is one wish. */
const sameWishMs = 500

export function leaveOnSignals(): Signals {
  const leaving = new AbortController()
  let runner: Runner | undefined
  let interruptedMs = Number.NEGATIVE_INFINITY
  const leave = () => {
    if (runner === undefined && leaving.signal.aborted) process.exit(exitCodes.ok)
    leaving.abort()
    void runner?.drain()
  }
  process.on('SIGTERM', leave)
  process.on('SIGINT', () => {
    const sameWish = performance.now() - interruptedMs < sameWishMs
    interruptedMs = performance.now()
    if (!sameWish) leave()
  })
  return {
    leaving: leaving.signal,
    obey(started) {
      runner = started
      if (leaving.signal.aborted) void runner.drain()
    },
  }
}
