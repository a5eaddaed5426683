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

/**
 * The server answered, and would answer the same: what is the matter is in the rows, or in what is done about them (a
 * constraint, a trigger). Not so if the connection, its transaction, resources, locks or the server itself are.
 */
export function isAboutRows(error: unknown): boolean {
  return /^(?!08|25|40|53|55|57|58|XX)/.test(sqlState(error) ?? '08000')
}

/** A lock was not to be had in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

export function isDeadlock(error: unknown): boolean {
  return sqlState(error) === '40P01'
}
