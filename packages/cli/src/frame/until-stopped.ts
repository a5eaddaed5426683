/** Waits for Ctrl-C or SIGTERM. */
import { once } from 'node:events'

export async function untilStopped(): Promise<void> {
  const stop = new AbortController()
  // Signal handlers do not keep a process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal, { signal: stop.signal })))
  } finally {
    clearInterval(alive)
    stop.abort()
  }
}
