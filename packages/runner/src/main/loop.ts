/**
 * The only file of the main thread with timers. A tick does one round and returns when to run again; the loop handles
 * time, errors and stopping. When a tick throws, the loop retries it with backoff and never ends: the database and the
 * network return.
 */
import { backoffMs } from './backoff.ts'

export type Next = { readonly afterMs: number }
export const atOnce: Next = { afterMs: 0 }
export const after = (ms: number): Next => ({ afterMs: ms })
export const whenWoken: Next = { afterMs: Number.POSITIVE_INFINITY }

export interface Loop {
  /** Starts the next round now, or directly after the current one. */
  wake(): void
  /** Resolves when the current round has ended. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly tick: () => Promise<Next>
  readonly onError: (error: unknown, retryInMs: number) => void
}

const retry = { firstMs: 100, msMax: 5_000 }

export function startLoop(options: LoopOptions): Loop {
  let stopped = false
  const isStopped = () => stopped
  let woken = false
  let failures = 0
  /** Ends the current pause. */
  let endPause: () => void = () => {}

  async function oneRound(): Promise<Next> {
    try {
      const next = await options.tick()
      failures = 0
      return next
    } catch (error) {
      const retryInMs = backoffMs(retry, ++failures)
      options.onError(error, retryInMs)
      return after(retryInMs)
    }
  }

  async function run(): Promise<void> {
    while (!isStopped()) {
      woken = false
      const { afterMs } = await oneRound()
      if (!woken && !stopped && afterMs > 0) await pauseUntilWoken(afterMs)
    }
  }

  /** Uses no AbortSignal, which would be too slow: loops are woken often. */
  function pauseUntilWoken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(() => endPause(), Math.min(ms, timerMsMax)) : undefined
      endPause = () => {
        clearTimeout(timer)
        endPause = () => {}
        resolve()
      }
    })
  }

  const running = run()
  return {
    wake() {
      woken = true
      endPause()
    },
    stop() {
      stopped = true
      endPause()
      return running
    },
  }
}

export type StartLoop = (name: string, tick: () => Promise<Next>) => Loop

/** Starts loops whose failed rounds are reported under their names. */
export function loopStarter(onFailed: (loop: string, error: unknown, retryInMs: number) => void): StartLoop {
  return (name, tick) => startLoop({ tick, onError: (error, retryInMs) => onFailed(name, error, retryInMs) })
}

/** The monotonic clock of the main thread. */
export function nowMs(): number {
  return performance.now()
}

/** The longest timer of Node; a longer one fires at once. */
const timerMsMax = 2 ** 31 - 1

/** Resolves after `ms`, when the signal aborts, or after 24 days. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = Number.isFinite(ms) ? setTimeout(resolve, Math.min(ms, timerMsMax)) : undefined
  const end = () => resolve()
  signal?.addEventListener('abort', end)
  return promise.finally(() => {
    clearTimeout(timer)
    // A listener would keep the signal and its sources in memory.
    signal?.removeEventListener('abort', end)
  })
}

/** Resolves after what has arrived in the meantime has been handled: answers on sockets, messages of threads. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The value of the promise, or undefined if the time passes or the signal aborts first. Leaves no timer behind. */
export async function within<T>(ms: number, waited: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
  const over = new AbortController()
  const signals = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  try {
    return await Promise.race([waited, pause(ms, signals).then(() => undefined)])
  } finally {
    over.abort()
  }
}
