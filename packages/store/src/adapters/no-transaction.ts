/** What is said of a handle that is in no transaction. */
import { ExplainedError } from '@q/schema'

const why = 'What is enqueued is as durable, or as undone, as your transaction, and may take more than one statement.'

export function notInTransaction(what: string, fix: string): ExplainedError {
  return new ExplainedError({ code: 'NOT_IN_TRANSACTION', what: `${what}; nothing was done.`, why, fix })
}
