/** Classifies PostgreSQL error codes. */

/** Returns undefined if the error is not from the server. Codes of the operating system look alike but have no digit: EPIPE. */
export function sqlState(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Whether the statement itself was invalid: classes 22, 23 and 54. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '')
}

/**
 * Whether a retry would get the same answer: the cause is in the rows or in what reacts to them (a constraint, a
 * trigger), not in the connection, its transaction, resources, locks or the server.
 */
export function isAboutRows(error: unknown): boolean {
  return /^(?!08|25|40|53|55|57|58|XX)/.test(sqlState(error) ?? '08000')
}

/** Whether a lock was not available in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

export function isDeadlock(error: unknown): boolean {
  return sqlState(error) === '40P01'
}

/** Whether the transaction lost against another one, so that its owner may retry it. */
export function isTransactionConflict(error: unknown): boolean {
  return sqlState(error)?.startsWith('40') === true
}

/**
 * Whether an error is about the connection or the server, not about the statement: the same statement may succeed on
 * another connection. Besides broken connections these are: a prepared statement that is gone or changed (0A000,
 * 26000), a session that ended because its transaction took too long (25P03, 25P04), a server that only reads, while
 * after a failover another connection may reach one that writes (25006), and a server without free connections (53300).
 */
export function isAboutConnection(error: unknown): boolean {
  return /^(08|57P|0A000|26000|25P0[34]|25006|53300)/.test(sqlState(error) ?? '08000')
}
