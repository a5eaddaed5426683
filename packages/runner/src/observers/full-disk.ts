/** Where there is no disk space left, if that is what an error says. */
export function fullDisk(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  if (code === '53100') return 'on the database server'
  return code === 'ENOSPC' ? 'on this machine' : undefined
}
