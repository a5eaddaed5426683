/** The client's only timers: looking again while somebody waits, and the limit of a wait. */
export interface Poll {
  start(): void
  stop(): void
}

const pollEveryMs = 1_000

/** Rounds do not overlap; a failed one is simply followed by the next. */
export function createPoll(look: () => Promise<void>): Poll {
  let timer: NodeJS.Timeout | undefined
  let looking = false
  async function round(): Promise<void> {
    if (looking) return
    looking = true
    await look().catch(() => {})
    looking = false
  }
  return {
    start() {
      timer ??= setInterval(() => void round(), pollEveryMs)
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}

/** Longer ones cannot be timed, and are as good as none: 24 days. */
const timerMsMax = 2 ** 31 - 1

export interface Limit extends Disposable {
  readonly signal: AbortSignal
}

/** Aborts after so much time, with `reason`, or with the caller's own signal. Ended, it leaves nothing behind: AbortSignal.timeout would. */
export function limit(timeoutMs: number | undefined, reason: () => Error, signal: AbortSignal | undefined): Limit {
  const over = new AbortController()
  const isTimed = timeoutMs !== undefined && timeoutMs <= timerMsMax
  const timer = isTimed ? setTimeout(() => over.abort(reason()), timeoutMs) : undefined
  return {
    signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
