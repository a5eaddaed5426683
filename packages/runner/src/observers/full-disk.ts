/** Where no disk space is left, if this is the cause of an error; else undefined. */
export function fullDisk(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (code === '53100') return 'on the database server'
  return code === 'ENOSPC' ? 'on this machine' : undefined
}
