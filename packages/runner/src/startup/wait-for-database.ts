/**
 * Waits for the database at the start, with one limit from the first connection until the replica has registered. A start
 * waits for a database that does not answer yet (its container may still be starting), for a standby that may be about to
 * be promoted, and after a broken connection. Every other problem ends the start at once, and a signal ends every wait.
 */
import { isExplained, type Explained } from '@q/schema'
import { pause } from '../main/loop.ts'

const temporaryProblems = new Set([
  'DATABASE_UNREACHABLE',
  'DATABASE_CONNECTION_LOST',
  'DATABASE_TIMEOUT',
  'DATABASE_BUSY',
  'DATABASE_STARTING',
  'DATABASE_FULL',
  'DATABASE_READ_ONLY',
])
const askEveryMs = 500

export interface DatabaseWait {
  readonly forMs: number
  readonly leaving: AbortSignal
  /** Called once, with the problem. */
  readonly onWait: (problem: Explained) => void
}

/** Retries the attempt until it succeeds, fails for a lasting reason, or the time is over. */
export async function retryUntilReachable<T>(
  attempt: () => Promise<T>,
  { forMs, leaving, onWait }: DatabaseWait,
): Promise<T> {
  const deadlineMs = performance.now() + forMs
  for (let tries = 0; ; tries++) {
    leaving.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      leaving.throwIfAborted()
      if (!isExplained(error) || !temporaryProblems.has(error.code) || performance.now() >= deadlineMs) throw error
      if (tries === 0) onWait(error)
      await pause(askEveryMs, leaving)
    }
  }
}

/** Rejects when a signal arrives and does not wait for the work: a migration may wait long for a lock. */
export function unlessLeaving<T>(leaving: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(leaving.reason as Error)
  leaving.addEventListener('abort', leave)
  return Promise.race([work, promise]).finally(() => leaving.removeEventListener('abort', leave))
}

/** Work that takes longer is announced. */
const quietMs = 2_000

/** `log` is called if the work takes long. */
export async function logIfSlow<T>(log: () => void, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  void pause(quietMs, done.signal).then(() => done.signal.aborted || log())
  return work.finally(() => done.abort())
}
