/** Repeats a failing call a limited number of times, with a pause in between, until the monitor stops. */
import { pause } from '../main/loop.ts'

export interface AttemptOptions {
  readonly attempts: number
  readonly delayMs: number
  /** Once aborted, there is no further try. */
  readonly signal: AbortSignal
}

/** Rejects with the error of the last try. */
export async function withAttempts<T>(
  { attempts, delayMs, signal }: AttemptOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= attempts || signal.aborted) throw error
      await pause(delayMs, signal)
    }
  }
}
