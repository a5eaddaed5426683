/**
 * Creates a directory atomically and without a lock: it appears complete or not at all.
 *
 * It is created under a temporary name next to its target, then renamed. A rename onto a non-empty directory fails, so one of
 * several concurrent processes wins and the others discard theirs. The temporary name contains the pid of its creator; the
 * next process removes the leftovers of a killed one.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from './disk-errors.ts'

export async function createDirectoryOnce(directory: string, make: (part: string) => Promise<void>): Promise<void> {
  if (existsSync(directory)) return
  const part = `${directory}.part-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await mkdir(part, { mode: 0o700 })
    await make(part)
    await rename(part, directory)
    await syncToDisk(dirname(directory))
  } catch (error) {
    if (!isLostRace(error, directory)) throw error
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(dirname(directory))) {
    const [left, pid] = name.split('.part-')
    if (left !== basename(directory) || pid === undefined || isAlive(Number.parseInt(pid, 10))) continue
    await rm(join(dirname(directory), name), { recursive: true, force: true })
  }
}

/** Syncs a file's content, or a directory's entries, to disk. */
export async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path)
  await handle.sync()
}

function isLostRace(error: unknown, directory: string): boolean {
  const code = errnoOf(error)
  return (code === 'ENOTEMPTY' || code === 'EEXIST') && existsSync(directory)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
