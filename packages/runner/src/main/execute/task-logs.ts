/**
 * Writes the log lines of runs to the store in batches, under their lease, with one statement in flight. Observers receive
 * each line at once. While the database is unreachable, lines are buffered up to a bound; beyond it the oldest are dropped
 * and their number is reported.
 */
import type { Lease, LogLine, Store } from '@q/store'
import type { TaskLine } from '../../protocol/messages.ts'
import { ownClocks } from '../../protocol/own-clocks.ts'
import type { Observe } from '../events.ts'
import { pause } from '../loop.ts'
import { retryUntilStored } from './retry-until-stored.ts'

export interface LeasedLine extends TaskLine {
  readonly lease: Lease
}

export interface TaskLogs {
  add(task: string, line: LeasedLine): void
  /** Resolves when the lines of a run so far are written, or after two seconds: an outcome does not wait longer for log lines. */
  written(lease: Lease): Promise<void>
}

const waitingMax = 20_000
const batchMax = 500
const writtenMsMax = 2_000

/** `hasLeft` aborts when the replica has left; lines that are not written by then are dropped. */
export function createTaskLogs(store: Store, observe: Observe, hasLeft?: AbortSignal): TaskLogs {
  let waiting: LeasedLine[] = []
  let dropped = 0
  let writing: Promise<void> | undefined
  let waiters: { readonly isWritten: () => boolean; readonly done: AbortController }[] = []

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax)
      const append = async () => {
        await store.appendTaskLogs(batch.map(storedLine))
        return true
      }
      await retryUntilStored(observe, append, hasLeft).catch(() => {})
      waiting = waiting.slice(batch.length)
      for (const { done } of waiters.filter(({ isWritten }) => isWritten())) done.abort()
      if (dropped > 0) observe({ type: 'log-lines-dropped', lines: dropped })
      dropped = 0
    }
    writing = undefined
  }

  return {
    add(task, line) {
      const { lease, level, line: text, facts } = line
      observe({ type: 'task-log', runId: lease.runId, task, level, line: text, facts })
      waiting.push(line)
      if (waiting.length > waitingMax) {
        waiting.splice(batchMax, 1) // the oldest line that is not in flight
        dropped++
      }
      writing ??= write()
    },
    async written({ runId, fence }) {
      const isWritten = () => !waiting.some(({ lease }) => lease.runId === runId && lease.fence === fence)
      if (isWritten()) return
      const waiter = { isWritten, done: new AbortController() }
      waiters.push(waiter)
      await pause(writtenMsMax, waiter.done.signal)
      waiters = waiters.filter((other) => other !== waiter)
    },
  }
}

/** The age is exact: the thread took `atMs` from the same clock. */
function storedLine({ lease, lineNo, level, line, facts, atMs }: LeasedLine): LogLine {
  const ageMs = Math.max(0, ownClocks.wallMs() - atMs)
  return { lease, lineNo, level, line, ageMs, ...(facts === null ? {} : { facts: JSON.parse(facts) as unknown }) }
}
