/** Writes that must not be dropped because of the network: tried again, later and later, until the database answers. */
import type { Observe } from './events.ts'
import { pause } from './loop.ts'

const retryMs = { first: 200, max: 5_000 }

/** Again at once when undefined. Gives up, with the last error, only when `signal` aborts. */
export async function untilReached<T>(
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
      const retryInMs = Math.min(retryMs.max, retryMs.first * 2 ** failures++)
      observe({ type: 'settle-failed', error, retryInMs })
      await pause(retryInMs, signal)
    }
  }
}
