/**
 * SIGTERM and Ctrl-C, from the first moment on. Before there is a runner nothing has been claimed, and boot ends at the
 * next point where it can; asked again, at once. As soon as there is one, each signal drains it.
 */
import type { Runner } from '../main/runner.ts'
import { exitCodes } from '../output/report-error.ts'

export interface ShutdownSignals {
  /** Aborts at the first signal. */
  readonly leaving: AbortSignal
  attach(runner: Runner): void
}

/** Ctrl-C arrives twice, from the terminal and from the package manager: that is one request. */
const sameRequestMs = 500

export function listenForShutdown(): ShutdownSignals {
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
    const isSameRequest = performance.now() - interruptedMs < sameRequestMs
    interruptedMs = performance.now()
    if (!isSameRequest) leave()
  })
  return {
    leaving: leaving.signal,
    attach(started) {
      runner = started
      if (leaving.signal.aborted) void runner.drain()
    },
  }
}
