/**
 * The only file of the main thread with a timer. A tick does one round and says when to come back; the loop owns time,
 * errors and the end. A tick that throws is tried again later and later, up to a bound, with jitter, and never ends the
 * loop: the world (database, network) comes back.
 */
export type Next = { readonly afterMs: number }
export const atOnce: Next = { afterMs: 0 }
export const after = (ms: number): Next => ({ afterMs: ms })
export const whenWoken: Next = { afterMs: Number.POSITIVE_INFINITY }

export interface Loop {
  /** Come back now, or, if a round is under way, directly after it. */
  wake(): void
  /** Ends after the round under way. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly tick: () => Promise<Next>
  readonly onError: (error: unknown, retryInMs: number) => void
}

const retryMs = { first: 100, max: 5_000 }

export function startLoop(options: LoopOptions): Loop {
  let stopped = false
  const isStopped = () => stopped
  let woken = false
  let failures = 0
  /** Ends the pause under way. */
  let endPause: () => void = () => {}

  async function oneRound(): Promise<Next> {
    try {
      const next = await options.tick()
      failures = 0
      return next
    } catch (error) {
      const worstMs = Math.min(retryMs.max, retryMs.first * 2 ** failures++)
      const retryInMs = Math.round(worstMs * (0.5 + Math.random() / 2))
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

  /** Without a signal of its own: loops are woken often. */
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

/** What a timer can wait for; beyond it Node does not wait at all. */
const timerMsMax = 2 ** 31 - 1

/** Ends early, without an error, when the signal aborts, and after 24 days. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = Number.isFinite(ms) ? setTimeout(resolve, Math.min(ms, timerMsMax)) : undefined
  const end = () => resolve()
  signal?.addEventListener('abort', end)
  return promise.finally(() => {
    clearTimeout(timer)
    // A signal that is still listened to is kept, with everything it was made of.
    signal?.removeEventListener('abort', end)
  })
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
