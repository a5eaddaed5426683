/** The file of a lock: it contains the token of its holder, and its time is that of the last renewal. */
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { MemoryFailure } from './failure.ts'

export interface LockFile {
  /** Creates the file. Impossible: nothing can be written beside the memory file, and the server says what is wrong with it. */
  create(): Promise<'created' | 'exists' | 'impossible'>
  /** Differs for each holder and each renewal. Empty: there is no file. */
  sign(): Promise<string>
  /** Replaces the file, unless its sign has changed. Another program may replace it at the same time. */
  replace(sign: string): Promise<void>
  isOurs(): Promise<boolean>
  renew(): Promise<void>
  /** Removes the file if it is ours. */
  remove(): Promise<void>
}

const noFolder: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'])

export function createLockFile(path: string, token: string): LockFile {
  async function sign(): Promise<string> {
    try {
      const [holder, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
      return `${holder} ${mtimeMs}`
    } catch {
      return ''
    }
  }

  async function isOurs(): Promise<boolean> {
    return (await readFile(path, 'utf8').catch(() => '')) === token
  }

  return {
    sign,
    isOurs,
    async create() {
      try {
        await writeFile(path, token, { flag: 'wx' })
        return 'created'
      } catch (error) {
        const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
        if (code === 'EEXIST') return 'exists'
        if (noFolder.has(code)) return 'impossible'
        throw new MemoryFailure(`${path} could not be written.`, { notTried: true, cause: error })
      }
    },
    async replace(known) {
      const own = `${path}.${token}`
      await writeFile(own, token)
      if ((await sign()) === known) await rename(own, path)
      await rm(own, { force: true })
    },
    async renew() {
      const now = new Date()
      await utimes(path, now, now).catch(() => {})
    },
    async remove() {
      if (await isOurs()) await rm(path, { force: true }).catch(() => {})
    },
  }
}
