/** The error for a handle that is not in a transaction. */
import { ExplainedError } from '@q/schema'

const why = 'An enqueue is committed or rolled back with your transaction, and may take more than one statement.'

export function notInTransaction(what: string, fix: string): ExplainedError {
  return new ExplainedError({ code: 'NOT_IN_TRANSACTION', what: `${what}; nothing was done.`, why, fix })
}
