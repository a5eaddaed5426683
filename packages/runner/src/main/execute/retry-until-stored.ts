/** Retries a write with backoff until the database answers, so that no outcome is lost because of the network. */
import { backoffMs } from '../backoff.ts'
import type { Observe } from '../events.ts'
import { pause } from '../loop.ts'

const retry = { firstMs: 200, msMax: 5_000 }

/** Repeats `write` at once if it returns undefined. Rejects with the last error only when `signal` aborts. */
export async function retryUntilStored<T>(
  observe: Observe,
  write: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      const answer = await write()
      if (answer !== undefined) return answer
    } catch (error) {
      if (signal?.aborted) throw error
      const retryInMs = backoffMs(retry, ++failures)
      observe({ type: 'settle-failed', error, retryInMs })
      await pause(retryInMs, signal)
    }
  }
}
