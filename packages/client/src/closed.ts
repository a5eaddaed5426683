/** After close() nothing is asked of the database any more; whoever asks, or still waits, is told why. */
import { ExplainedError } from '@q/schema'

export function queueClosed(): ExplainedError {
  return new ExplainedError({
    code: 'QUEUE_CLOSED',
    what: 'The queue is closed.',
    why: 'close() was called before this, or while it was waited for. Runs that were accepted go on.',
    fix: 'Call close() when nothing else is asked for, or make a new queue().',
  })
}

/** The same verbs, as long as it is open. */
export function whileOpen<Verbs extends object>(verbs: Verbs, isClosed: () => boolean): Verbs {
  const guarded = Object.entries(verbs).map(([name, verb]: [string, (...asked: unknown[]) => unknown]) => [
    name,
    (...asked: unknown[]) => (isClosed() ? Promise.reject(queueClosed()) : verb(...asked)),
  ])
  return Object.fromEntries(guarded) as Verbs
}
