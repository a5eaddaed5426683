import { statfs } from 'node:fs/promises'
import { EmbeddedError } from './embedded-error.ts'

const FREE_BYTES_MIN = 1024 * 1024
const REFUSALS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ELOOP'])

/** Says what the file system refused in the words of this package; anything else rises as it is. */
export function sayDiskTrouble(error: unknown, dir: string): unknown {
  const code = errnoOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(dir, error)
  if (code === undefined || !REFUSALS.has(code)) return error
  return new EmbeddedError({
    code: 'DATA_DIR_UNWRITABLE',
    what: `The database cannot be created in ${dir}.`,
    why: `The file system refused it: ${error instanceof Error ? error.message : code}`,
    fix: 'Make that directory writable for the user who runs this, or choose another data directory.',
    cause: error,
  })
}

export function diskFull(dir: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError({
    code: 'DISK_FULL',
    what: `There is no space left for the database in ${dir}.`,
    why: 'The file system that holds the data directory is full, or a quota is used up.',
    fix: 'Free some space (a new database needs about 100 MB), or choose a data directory on another disk.',
    cause,
  })
}

/** A full disk often cannot even hold the log line that says so: the words or the free space are evidence enough. */
export async function isDiskFull(dir: string, said: string): Promise<boolean> {
  if (/No space left on device|Disk quota exceeded|Check free disk space/.test(said)) return true
  const free = await statfs(dir).catch(() => undefined)
  return free !== undefined && free.bavail * free.bsize < FREE_BYTES_MIN
}

export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
