/** The only file with timers for waiting. Every loop that calls these is bounded by a deadline or a count. */

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

/** Does not keep the process alive, and ends early when the signal aborts. */
export function sleepInBackground(ms: number, noLonger: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
    noLonger.addEventListener('abort', () => resolve(), { once: true })
  })
}
