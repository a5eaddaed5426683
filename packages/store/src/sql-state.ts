/** What PostgreSQL's code of an error means to us, said once. */

/** Undefined: no answer of the server. */
export function sqlState(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Classes 22, 23 and 54: what was sent, not the world. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '')
}

/** A lock was not to be had in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

export function isDeadlock(error: unknown): boolean {
  return sqlState(error) === '40P01'
}
