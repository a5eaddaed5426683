/** Whether two new runs differ only in their payloads. Dates, keys and windows must be the same object. */
import type { NewRun } from './new-run.ts'

/**
 * Compares field by field, because it is called for each run of a large batch: a loop over the names takes ten times as
 * long.
 */
export function areAlike(a: NewRun, b: NewRun): boolean {
  return (
    a.task === b.task &&
    a.lane === b.lane &&
    a.priority === b.priority &&
    a.group === b.group &&
    a.maxAttempts === b.maxAttempts &&
    a.onCrash === b.onCrash &&
    a.delayMs === b.delayMs &&
    a.runAt === b.runAt &&
    a.expiresInMs === b.expiresInMs &&
    a.timeoutMs === b.timeoutMs &&
    a.maxSilentMs === b.maxSilentMs &&
    a.uniqueKey === b.uniqueKey &&
    a.uniqueForMs === b.uniqueForMs &&
    a.throttle === b.throttle &&
    a.debounce === b.debounce &&
    a.concurrency === b.concurrency &&
    a.trace === b.trace
  )
}
