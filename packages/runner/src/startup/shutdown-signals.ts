/**
 * Handles SIGTERM and Ctrl-C from the start of the process. Before there is a runner, the first signal ends the start at
 * the next point where it can end, and a second one ends it at once. Once there is a runner, each signal drains it.
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
