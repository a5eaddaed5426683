/** A thread as the dispatch sees it: what it was handed, how long that takes, and the slot that goes with it. */
import { sharedClockMs } from '../pulse-layout.ts'
import type { DispatchedRun } from './monitor-run.ts'
import type { PulseBoard } from './pulse-board.ts'
import type { Slots } from './slots.ts'
import type { Load } from './start-ahead.ts'
import type { ThreadFeed } from './thread-feed.ts'

export interface FedThread {
  readonly feed: ThreadFeed
  /** Runs that were handed over and have not ended. */
  readonly load: Load
  /** Runs whose end is not written. */
  readonly open: Set<DispatchedRun>
  /** A run has the slot for itself. */
  exclusive: boolean
}

export function createFedThread(feed: ThreadFeed): FedThread {
  return { feed, load: { runs: 0, ms: 0 }, open: new Set(), exclusive: false }
}

/** The run that has begun and not ended; undefined also for a run that has the slot for itself. */
export function executingOf({ feed, open }: FedThread): DispatchedRun | undefined {
  if (open.size === 0) return undefined
  const executing = feed.executing() as DispatchedRun | undefined
  return executing !== undefined && open.has(executing) ? executing : undefined
}

/** Until the thread has nothing left to do, by the expected durations of its runs. */
export function leftMs(thread: FedThread, pulseBoard: PulseBoard): number {
  const running = executingOf(thread)
  return thread.load.ms - Math.min(ranMs(running, pulseBoard), running?.expectedMs ?? 0)
}

/** How much longer than expected, and how long at least, a run takes before the runs behind it go elsewhere. */
const overdue = { times: 4, msMin: 100 }

export function isOverdue(thread: FedThread, pulseBoard: PulseBoard): boolean {
  const running = executingOf(thread)
  return ranMs(running, pulseBoard) > Math.max(overdue.msMin, overdue.times * (running?.expectedMs ?? 0))
}

/** How long the run has taken so far. */
function ranMs(run: DispatchedRun | undefined, pulseBoard: PulseBoard): number {
  const beganAtMs = run && pulseBoard.beganAtMs(run.slot, run.order.seq)
  return beganAtMs === undefined || beganAtMs === null ? 0 : sharedClockMs() - beganAtMs
}

export interface FedSlots extends Slots {
  /** Resolves the pending `allFree()` calls if no slot is busy. */
  check(): void
}

/** A slot is free when its thread has nothing to do, and busy until the ends of its runs are written. */
export function createFedSlots(threads: readonly FedThread[]): FedSlots {
  let waiters: (() => void)[] = []
  const isFree = ({ exclusive, load }: FedThread) => !exclusive && load.runs === 0
  const slots: FedSlots = {
    total: threads.length,
    free: () => threads.filter(isFree).length,
    busy: () => threads.filter(({ exclusive, open }) => exclusive || open.size > 0).length,
    runs: () => threads.reduce((sum, { exclusive, open }) => sum + open.size + (exclusive ? 1 : 0), 0),
    take() {
      const thread = threads.find(isFree)
      if (thread === undefined) throw new Error('A run needs a slot for itself, and none is free.')
      thread.exclusive = true
      return thread.feed.slot
    },
    giveBack(slot) {
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
