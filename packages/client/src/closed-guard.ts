/** After `close()`, pending waits and later calls reject with `QUEUE_CLOSED`; nothing more is sent to the database. */
import { ExplainedError } from '@q/schema'

export function queueClosed(): ExplainedError {
  return new ExplainedError({
    code: 'QUEUE_CLOSED',
    what: 'The queue is closed.',
    why: 'close() was called before this call, or while it was waiting. Accepted runs are not affected.',
    fix: 'Call close() after the last call, or create a new queue().',
  })
}

/** The same verbs, which reject once the queue is closed. */
export function rejectWhenClosed<Verbs extends object>(verbs: Verbs, isClosed: () => boolean): Verbs {
  const guarded = Object.entries(verbs).map(([name, verb]: [string, (...asked: unknown[]) => unknown]) => [
    name,
    (...asked: unknown[]) => (isClosed() ? Promise.reject(queueClosed()) : verb(...asked)),
  ])
  return Object.fromEntries(guarded) as Verbs
}
