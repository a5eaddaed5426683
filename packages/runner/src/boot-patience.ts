/**
 * What a start waits for, and that it says so. A database that does not answer yet is waited for: a container beside
 * this one may still be coming up; so is a standby that may be about to be promoted. Whatever else is wrong is told at
 * once. A wish to leave ends every wait.
 */
import { isExplained, type Explained } from '@q/schema'
import { pause } from './main/loop.ts'

const mayCome = new Set(['DATABASE_UNREACHABLE', 'DATABASE_STARTING', 'DATABASE_FULL', 'DATABASE_READ_ONLY'])
const askEveryMs = 500

export interface DatabaseWait {
  readonly forMs: number
  readonly leaving: AbortSignal
  /** Told once, with what is in the way. */
  readonly onWait: (problem: Explained) => void
}

export async function onceThere<T>(ask: () => Promise<T>, { forMs, leaving, onWait }: DatabaseWait): Promise<T> {
  const deadlineMs = performance.now() + forMs
  for (let tries = 0; ; tries++) {
    leaving.throwIfAborted()
    try {
      return await unlessLeaving(leaving, ask())
    } catch (error) {
      leaving.throwIfAborted()
      if (!isExplained(error) || !mayCome.has(error.code) || performance.now() >= deadlineMs) throw error
      if (tries === 0) onWait(error)
      await pause(askEveryMs, leaving)
    }
  }
}

/** Ends with the wish to leave, whatever becomes of the work: a migration may wait long for a lock. */
function unlessLeaving<T>(leaving: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(leaving.reason as Error)
  leaving.addEventListener('abort', leave)
  return Promise.race([work, promise]).finally(() => leaving.removeEventListener('abort', leave))
}

/** Longer than this nobody waits without a word. */
const quietMs = 2_000

/** `say` is called if the work takes long. */
export async function sayingSo<T>(say: () => void, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  void pause(quietMs, done.signal).then(() => done.signal.aborted || say())
  return work.finally(() => done.abort())
}
