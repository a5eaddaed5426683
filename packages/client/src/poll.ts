/** The client's only timers: the poll that runs while something waits, and the time limit of a wait. */
export interface Poll {
  start(): void
  stop(): void
}

const pollEveryMs = 1_000

/** Rounds do not overlap; a failed round is followed by the next. */
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

/** The longest delay of a Node timer, 24 days. A longer wait has no limit. */
const timerMsMax = 2 ** 31 - 1

export interface WaitLimit extends Disposable {
  readonly signal: AbortSignal
}

/** A signal that aborts with `reason` after the timeout, or with the caller's signal. Disposing it clears the timer, which AbortSignal.timeout would keep. */
export function waitLimit(
  timeoutMs: number | undefined,
  reason: () => Error,
  signal: AbortSignal | undefined,
): WaitLimit {
  const over = new AbortController()
  const isTimed = timeoutMs !== undefined && timeoutMs <= timerMsMax
  const timer = isTimed ? setTimeout(() => over.abort(reason()), timeoutMs) : undefined
  return {
    signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
