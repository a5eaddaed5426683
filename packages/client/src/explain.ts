/**
 * Turns database errors into explained errors: code, what, why, fix, and the original as `cause`.
 *
 * Inside a caller's transaction, a serialization failure or deadlock passes through unchanged: the caller's retry logic
 * checks its SQLSTATE.
 */
import { explainEveryDatabaseError, isTransactionConflict, type Origin } from '@q/store'
import type { TransactionHandle } from './transaction.ts'

export type Explain = (error: unknown, tx?: TransactionHandle) => Promise<unknown>

export function createExplain(origin: Origin | undefined): Explain {
  return async (error, tx) => {
    if (tx !== undefined && (isTransactionConflict(error) || isTransactionConflict(Object(error).cause))) return error
    return explainEveryDatabaseError(error, origin)
  }
}

/** The same verbs, which reject with explained errors. */
export function explaining<Verbs extends object>(verbs: Verbs, explain: Explain): Verbs {
  const wrapped = Object.entries(verbs).map(([name, verb]: [string, (...asked: unknown[]) => Promise<unknown>]) => [
    name,
    (...asked: unknown[]) => explained(verb(...asked), explain),
  ])
  return Object.fromEntries(wrapped) as Verbs
}

/** The value of the work; rejects with the explained error. */
export async function explained<T>(work: Promise<T>, explain: Explain, tx?: TransactionHandle): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw await explain(error, tx)
  }
}
