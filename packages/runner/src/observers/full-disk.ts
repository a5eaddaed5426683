/** Returns the place without free disk space, if this caused the error; otherwise undefined. */
export function fullDisk(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (code === '53100') return 'on the database server'
  return code === 'ENOSPC' ? 'on this machine' : undefined
}
