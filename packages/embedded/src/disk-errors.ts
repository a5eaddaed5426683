import { statfs } from 'node:fs/promises'
import { EmbeddedError } from './embedded-error.ts'

const freeBytesMin = 1024 * 1024
const refusalCodes = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ELOOP'])

/** Turns errors of the file system into explained errors; rethrows any other error. */
export function explainDiskErrors(error: unknown, dir: string): unknown {
  const code = errnoOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(dir, error)
  if (code === undefined || !refusalCodes.has(code)) return error
  return new EmbeddedError({
    code: 'DATA_DIR_UNWRITABLE',
    what: `The database cannot be created in ${dir}.`,
    why: `The file system reported: ${error instanceof Error ? error.message : code}`,
    fix: 'Make that directory writable for the user who runs this, or choose another data directory.',
    cause: error,
  })
}

export function diskFull(dir: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError({
    code: 'DISK_FULL',
    what: `No space is left for the database in ${dir}.`,
    why: 'The file system of the data directory is full, or a quota is exceeded.',
    fix: 'Free some space (a new database needs about 100 MB), or choose a data directory on another disk.',
    cause,
  })
}

/** A full disk often cannot store the log line that reports it, so the free space counts as evidence too. */
export async function isDiskFull(dir: string, said: string): Promise<boolean> {
  if (/No space left on device|Disk quota exceeded|Check free disk space/.test(said)) return true
  const free = await statfs(dir).catch(() => undefined)
  return free !== undefined && free.bavail * free.bsize < freeBytesMin
}

export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
