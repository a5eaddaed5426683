/**
 * A lock on a memory file, for every program of q on every machine that shares the file. The memory server itself has
 * no lock and loses concurrent updates. The holder renews a file beside the memory file; a lock that is no longer
 * renewed is of a dead process, and the next one takes it over.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryFailure } from './failure.ts'
import { createLockFile } from './lock-file.ts'

export interface FileLock {
  /** Works while it holds the lock. Calls must not overlap. Rejects if the lock stays with others for too long. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Rejects if the lock was lost, because this process was stopped for a long time. */
  requireHeld(): Promise<void>
  renew(): Promise<void>
  /** Ends a wait for the lock. */
  close(): void
}

export interface FileLockOptions {
  /** A lock that was not renewed for so long is of a dead process. */
  readonly staleMs?: number
  readonly waitMsMax?: number
}

const renewalsPerStale = 8
const pollMs = 10
/** Between two holds by the same writer, so that a waiting one gets the lock: longer than any pause between its tries. */
const courtesyMs = 25

export function createFileLock(file: string, { staleMs = 8_000, waitMsMax = 15_000 }: FileLockOptions = {}): FileLock {
  const path = `${file}.q-lock`
  const lockFile = createLockFile(path, randomUUID())
  const closing = new AbortController()
  const sleep = (ms: number) => sleepUntil(closing.signal, ms)
  /** Undefined: the lock is not held, or cannot exist. */
  let renewedMs: number | undefined
  let releasedMs = Number.NEGATIVE_INFINITY

  /** Returns whether the wait is over. */
  async function take(): Promise<boolean> {
    const beganMs = performance.now()
    const answer = await lockFile.create()
    if (answer === 'created') renewedMs = beganMs
    return answer !== 'exists'
  }

  async function wait(): Promise<void> {
    const untilMs = performance.now() + waitMsMax
    let seen = { sign: '', sinceMs: performance.now() }
    await sleep(releasedMs + courtesyMs - performance.now())
    while (!(await take())) {
      const nowMs = performance.now()
      const sign = await lockFile.sign()
      if (sign === '' || sign !== seen.sign) seen = { sign, sinceMs: nowMs }
      else if (nowMs - seen.sinceMs > staleMs && (await takeOver(sign))) return
      if (nowMs > untilMs) throw new MemoryFailure(`Another program keeps ${path}.`, { notTried: true })
      await sleep(pollMs * (1 + Math.random()))
    }
  }

  /**
   * Replaces the lock of a dead process. If several programs do so at once, each waits until all have written; the last one
   * has the lock.
   */
  async function takeOver(sign: string): Promise<boolean> {
    const beganMs = performance.now()
    await lockFile.replace(sign)
    await sleep(courtesyMs).catch(async (error: unknown) => {
      await lockFile.remove()
      throw error
    })
    if (!(await lockFile.isOurs())) return false
    renewedMs = beganMs
    return true
  }

  async function renew(): Promise<void> {
    if (renewedMs === undefined) return
    const beganMs = performance.now()
    const held = await lockFile.isOurs()
    if (held) await lockFile.renew()
    if (renewedMs !== undefined) renewedMs = held ? beganMs : Number.NEGATIVE_INFINITY
  }

  return {
    renew,
    close: () => closing.abort(),
    async requireHeld() {
      if (renewedMs === undefined) return
      if (performance.now() - renewedMs > staleMs || !(await lockFile.isOurs()))
        throw new MemoryFailure(`Another program took over ${path} while this one was stopped.`)
    },
    async during(work) {
      await wait()
      let renewal = Promise.resolve()
      const renewing = setInterval(() => void (renewal = renew()), staleMs / renewalsPerStale)
      try {
        return await work()
      } finally {
        clearInterval(renewing)
        await renewal
        renewedMs = undefined
        await lockFile.remove()
        releasedMs = performance.now()
      }
    },
  }
}

/** Rejects when the destination is closed. */
async function sleepUntil(closing: AbortSignal, ms: number): Promise<void> {
  if (ms > 0) await pause(ms, undefined, { signal: closing }).catch(() => {})
  if (closing.aborted) throw new MemoryFailure('The destination is closed.', { notTried: true })
}
