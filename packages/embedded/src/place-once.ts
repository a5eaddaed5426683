/**
 * A directory appears complete or not at all, without a lock.
 *
 * It is made under a temporary name beside its place, then renamed. A rename onto a filled directory fails, so of
 * several processes that make the same thing at the same moment one wins and the others throw theirs away. The
 * temporary name carries the maker's pid: what a killed maker left behind is removed by whoever comes next.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from './disk-trouble.ts'

export async function placeOnce(place: string, make: (part: string) => Promise<void>): Promise<void> {
  if (existsSync(place)) return
  const part = `${place}.part-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await mkdir(part, { mode: 0o700 })
    await make(part)
    await rename(part, place)
    await syncToDisk(dirname(place))
  } catch (error) {
    if (!isLostRace(error, place)) throw error
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

export async function removeLeftovers(place: string): Promise<void> {
  for (const name of await readdir(dirname(place))) {
    const [left, pid] = name.split('.part-')
    if (left !== basename(place) || pid === undefined || isAlive(Number.parseInt(pid, 10))) continue
    await rm(join(dirname(place), name), { recursive: true, force: true })
  }
}

/** A file's content, or a directory's names, survive a power cut from here on. */
export async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path)
  await handle.sync()
}

function isLostRace(error: unknown, place: string): boolean {
  const code = errnoOf(error)
  return (code === 'ENOTEMPTY' || code === 'EEXIST') && existsSync(place)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}
