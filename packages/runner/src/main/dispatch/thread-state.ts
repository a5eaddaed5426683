/** A thread as the dispatch sees it: the runs it was handed, their expected duration, and its slot. */
import { sharedClockMs } from '../../protocol/slot-layout.ts'
import type { DispatchedRun } from './watch-run.ts'
import type { RunMonitors } from '../liveness/run-monitors.ts'
import type { Slots } from './slots.ts'
import type { Load } from './start-ahead.ts'
import type { ThreadFeed } from '../executors/thread-feed.ts'

export interface ThreadState {
  readonly feed: ThreadFeed
  /** Runs that were handed over and have not ended. */
  readonly load: Load
  /** Runs whose outcome is not written. */
  readonly open: Set<DispatchedRun>
  /** Whether a run has the slot for itself. */
  exclusive: boolean
}

export function createThreadState(feed: ThreadFeed): ThreadState {
  return { feed, load: { runs: 0, ms: 0 }, open: new Set(), exclusive: false }
}

/** The run that has begun and not ended; undefined if a run has the slot for itself. */
export function executingOf({ feed, open }: ThreadState): DispatchedRun | undefined {
  if (open.size === 0) return undefined
  const executing = feed.executing() as DispatchedRun | undefined
  return executing !== undefined && open.has(executing) ? executing : undefined
}

/** The time until the thread runs out of work, by the expected durations of its runs. */
export function leftMs(thread: ThreadState, runMonitors: RunMonitors): number {
  const running = executingOf(thread)
  return thread.load.ms - Math.min(ranMs(running, runMonitors), running?.expectedMs ?? 0)
}

/** A run that takes this many times the expected time, and at least `msMin`, is overdue: the runs behind it go elsewhere. */
const overdue = { times: 4, msMin: 100 }

export function isOverdue(thread: ThreadState, runMonitors: RunMonitors): boolean {
  const running = executingOf(thread)
  return ranMs(running, runMonitors) > Math.max(overdue.msMin, overdue.times * (running?.expectedMs ?? 0))
}

/** How long the run has been executing; 0 if it has not begun. */
export function ranMs(run: DispatchedRun | undefined, runMonitors: Pick<RunMonitors, 'beganAtMs'>): number {
  const beganAtMs = run && runMonitors.beganAtMs(run.slot, run.command.seq)
  return beganAtMs === undefined || beganAtMs === null ? 0 : sharedClockMs() - beganAtMs
}

export interface ThreadSlots extends Slots {
  /** Resolves the pending `allFree()` calls if no slot is busy. */
  check(): void
}

/** A slot is free when its thread has no run, and busy until the outcomes of its runs are written. */
export function createThreadSlots(threads: readonly ThreadState[]): ThreadSlots {
  let waiters: (() => void)[] = []
  const isFree = ({ exclusive, load }: ThreadState) => !exclusive && load.runs === 0
  const slots: ThreadSlots = {
    total: threads.length,
    free: () => threads.filter(isFree).length,
    busy: () => threads.filter(({ exclusive, open }) => exclusive || open.size > 0).length,
    runs: () => threads.reduce((sum, { exclusive, open }) => sum + open.size + (exclusive ? 1 : 0), 0),
    take() {
      const thread = threads.find(isFree)
      if (thread === undefined) throw new Error('A run needs a slot for itself, but no slot is free.')
      thread.exclusive = true
      return thread.feed.slot
    },
    release(slot) {
      const thread = threads[slot]
      if (thread !== undefined) thread.exclusive = false
      slots.check()
    },
    allFree() {
      if (slots.busy() === 0) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiters.push(resolve)
      return promise
    },
    check() {
      if (waiters.length === 0 || slots.busy() > 0) return
      for (const resolve of waiters) resolve()
      waiters = []
    },
  }
  return slots
}
