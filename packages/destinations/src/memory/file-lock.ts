/**
 * A lock on a memory file, for every program of q on every machine that shares the file. The memory server itself has
 * no lock and loses concurrent updates. The holder renews a file beside the memory file; a lock that is no longer
 * renewed is of a dead process, and the next one takes it over.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryFailure } from './failure.ts'

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
/** Nothing can be written beside the memory file; the server says what is wrong with it. */
const noFolder: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'])
const pollMs = 10
/** Between two holds by the same writer, so that a waiting one gets the lock: longer than any pause between its tries. */
const courtesyMs = 25

export function createFileLock(file: string, { staleMs = 8_000, waitMsMax = 15_000 }: FileLockOptions = {}): FileLock {
  const path = `${file}.q-lock`
  const token = randomUUID()
  const closing = new AbortController()
  /** Undefined: the lock is not held, or cannot exist. */
  let renewedMs: number | undefined
  let releasedMs = Number.NEGATIVE_INFINITY

  async function take(): Promise<'taken' | 'impossible' | 'held'> {
    const beganMs = performance.now()
    try {
      await writeFile(path, token, { flag: 'wx' })
      renewedMs = beganMs
      return 'taken'
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return 'held'
      if (noFolder.has(codeOf(error))) return 'impossible'
      throw new MemoryFailure(`${path} could not be written.`, { notTried: true, cause: error })
    }
  }

  async function wait(): Promise<void> {
    const untilMs = performance.now() + waitMsMax
    let seen = { lock: '', sinceMs: performance.now() }
    await sleep(releasedMs + courtesyMs - performance.now())
    while ((await take()) === 'held') {
      const nowMs = performance.now()
      const lock = await signOf(path)
      if (lock === '' || lock !== seen.lock) seen = { lock, sinceMs: nowMs }
      else if (nowMs - seen.sinceMs > staleMs && (await takeOver(lock))) return
      if (nowMs > untilMs) throw new MemoryFailure(`Another program keeps ${path}.`, { notTried: true })
      await sleep(pollMs * (1 + Math.random()))
    }
  }

  /**
   * Replaces the lock of a dead process. If several programs do so at once, each waits until all have written; the last one
   * has the lock.
   */
  async function takeOver(lock: string): Promise<boolean> {
    const own = `${path}.${token}`
    const beganMs = performance.now()
    await writeFile(own, token)
    if ((await signOf(path)) === lock) await rename(own, path)
    await rm(own, { force: true })
    await sleep(courtesyMs)
    if (!(await isOurs())) return false
    renewedMs = beganMs
    return true
  }

  async function isOurs(): Promise<boolean> {
    return (await readFile(path, 'utf8').catch(() => '')) === token
  }

  async function sleep(ms: number): Promise<void> {
    if (ms > 0) await pause(ms, undefined, { signal: closing.signal }).catch(() => {})
    if (closing.signal.aborted) throw new MemoryFailure('The destination is closed.', { notTried: true })
  }

  async function renew(): Promise<void> {
    if (renewedMs === undefined) return
    const beganMs = performance.now()
    const now = new Date()
    const held = await isOurs()
    if (held) await utimes(path, now, now).catch(() => {})
    if (renewedMs !== undefined) renewedMs = held ? beganMs : Number.NEGATIVE_INFINITY
  }

  return {
    renew,
    close: () => closing.abort(),
    async requireHeld() {
      if (renewedMs === undefined) return
      if (performance.now() - renewedMs > staleMs || !(await isOurs()))
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
        if (await isOurs()) await rm(path, { force: true }).catch(() => {})
        releasedMs = performance.now()
      }
    },
  }
}

/** Differs for each holder and each renewal. */
async function signOf(path: string): Promise<string> {
  try {
    const [token, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    return `${token} ${mtimeMs}`
  } catch {
    return ''
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined
}
