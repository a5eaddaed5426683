/**
 * Hands started runs to the threads in batches (follow-runs.ts does the rest). A run costs no promise, signal or monitor
 * here unless a loop has to look at it.
 *
 * Invariants. Only the thread's compare-and-exchange begins a run (ring-layout.ts). A run that was withdrawn has not
 * begun: it may go to another thread or be released. Every other run that was handed over is held, gets heartbeats and is
 * compared with the database until its end is written. A run that needs a whole slot gets a
 * thread with no other runs.
 */
import type { ClaimedRun } from '@q/store'
import { isExclusive } from '../execute/execute.ts'
import { commandOf } from '../execute/run-command.ts'
import type { Receiver } from '../executors/handed-runs.ts'
import type { RunMonitors } from '../liveness/run-monitors.ts'
import type { Signals } from '../signals.ts'
import { createReceiver, watchOf, withdrawFrom, type FollowDeps } from './follow-runs.ts'
import { createRoom, sumOfLoads, type Room } from './placement.ts'
import type { Slots } from './slots.ts'
import { executingOf, isOverdue, leftMs, type ThreadState } from './thread-state.ts'
import type { DispatchedRun } from './watch-run.ts'

export interface DispatchDeps extends FollowDeps {
  readonly runMonitors: RunMonitors
  /** Executes a run that has the slot for itself. */
  readonly executeAlone: (run: ClaimedRun, slot: number) => void
  readonly signals: Pick<Signals, 'wakeClaim' | 'runsReady' | 'handingOver'>
}

export interface Dispatch {
  readonly slots: Slots
  /**
   * Hands over as many runs as fit, from the front; the others stay. The runs are started, so they may wait for busy
   * threads.
   */
  assignSlots(awaitingSlot: ClaimedRun[]): void
  /** Reserves room for a claim and returns it. `freeMax`: how many threads without a load may be used. */
  room(freeMax: number, ahead: boolean): ReservedRoom
  /** Whether the run needs a slot for itself. */
  needsSlot(run: ClaimedRun): boolean
  /** Until each thread that takes runs has nothing left to do, by the expected durations of its runs. */
  leftMs(): readonly number[]
  /** Collects what has ended. `signalEnds`: whether threads are to signal every end from now on. */
  collect(signalEnds: boolean): void
  /** Withdraws and returns the runs that have not begun. */
  withdrawAll(): ClaimedRun[]
  /** Does the same for threads that have been busy for much longer than expected. */
  relieve(): ClaimedRun[]
  /**
   * Opens monitors of the runs that are executing, and of all that were asked for at `beforeMs` or earlier. Collects first,
   * so that no limit is applied to a run whose code has ended unsignalled.
   */
  openMonitors(beforeMs?: number): void
  /** Slots with runs that were handed over and are not settled. */
  batches(): { readonly slot: number; readonly runs: readonly DispatchedRun[] }[]
}

export interface ReservedRoom extends Room {
  /** The response to its claim has arrived. */
  release(): void
}

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { threads, slots, startAhead, heldRuns, runMonitors, execution } = deps
  const receiver = createReceiver(deps)
  /** Claims in flight, with the room that they reserved. */
  const reserved = new Set<Room>()
  const needsSlot = (run: ClaimedRun) => isExclusive(execution, run)

  /** A thread whose waiting runs were withdrawn does not get them back. */
  function takesRuns(thread: ThreadState): boolean {
    return !thread.exclusive && !isOverdue(thread, runMonitors)
  }

  function roomOf(freeMax: number, ahead: boolean): Room {
    const loads = threads.map((thread) => (takesRuns(thread) ? thread.load : undefined))
    const reservedBy = (slot: number) => [...reserved].flatMap(({ added }) => added[slot] ?? [])
    return createRoom(startAhead, {
      loads,
      freeMax,
      ahead,
      ringRoom: (slot) => threads[slot]?.feed.room() ?? 0,
      reserved: threads.map((_, slot) => sumOfLoads(reservedBy(slot))),
    })
  }

  return {
    slots,
    room(freeMax, ahead) {
      const room = roomOf(freeMax, ahead)
      reserved.add(room)
      return { ...room, release: () => void reserved.delete(room) }
    },
    assignSlots(awaitingSlot) {
      if (awaitingSlot.length === 0) return
      const { batches, alone, rest } = planSlots(awaitingSlot, roomOf(threads.length, true), needsSlot)
      awaitingSlot.splice(0, awaitingSlot.length, ...rest)
      for (const [slot, runs] of batches) handOver(deps, receiver, threads[slot] as ThreadState, runs)
      for (const [slot, run] of alone) {
        const thread = threads[slot]
        if (thread !== undefined) thread.exclusive = true
        deps.executeAlone(run, slot)
      }
    },
    needsSlot,
    leftMs: () => threads.filter(takesRuns).map((thread) => leftMs(thread, runMonitors)),
    collect(signalEnds) {
      for (const { feed } of threads) feed.signalEnds(signalEnds)
    },
    withdrawAll: () => threads.flatMap((thread) => withdrawFrom(deps, thread)),
    relieve: () => threads.flatMap((thread) => (isOverdue(thread, runMonitors) ? withdrawFrom(deps, thread) : [])),
    openMonitors(beforeMs) {
      for (const thread of threads) {
        thread.feed.collect()
        const running = executingOf(thread)
        if (running !== undefined) watchOf(deps, running)
        if (beforeMs === undefined) continue
        for (const one of thread.open) if ((heldRuns.claimSentMs(one.run) ?? beforeMs) <= beforeMs) watchOf(deps, one)
      }
    },
    batches: () =>
      threads.filter(({ open }) => open.size > 0).map(({ feed: { slot }, open }) => ({ slot, runs: [...open] })),
  }
}

interface SlotPlan {
  readonly batches: ReadonlyMap<number, readonly ClaimedRun[]>
  /** Runs that have a slot for themselves. */
  readonly alone: ReadonlyMap<number, ClaimedRun>
  /** Runs that no thread can take now. */
  readonly rest: readonly ClaimedRun[]
}

function planSlots(runs: readonly ClaimedRun[], room: Room, needsSlot: (run: ClaimedRun) => boolean): SlotPlan {
  const batches = new Map<number, ClaimedRun[]>()
  const alone = new Map<number, ClaimedRun>()
  const rest: ClaimedRun[] = []
  for (const run of runs) {
    const isAlone = needsSlot(run)
    const slot = isAlone ? room.takeWhole() : room.take(run.task)
    if (slot === undefined) rest.push(run)
    else if (isAlone) alone.set(slot, run)
    else if (batches.has(slot)) batches.get(slot)?.push(run)
    else batches.set(slot, [run])
  }
  return { batches, alone, rest }
}

function handOver(deps: DispatchDeps, receiver: Receiver, thread: ThreadState, runs: readonly ClaimedRun[]): void {
  const { startAhead, heldRuns, runMonitors, execution, processStats, signals } = deps
  const { feed, load, open } = thread
  const { slot } = feed
  if (load.runs === 0) processStats.runBegan()
  const batch = runs.map((run): DispatchedRun => {
    const expectedMs = startAhead.expectedMs(run.task)
    load.runs++
    load.ms += expectedMs
    heldRuns.begun(run)
    const command = commandOf(execution, run, runMonitors.nextSeq(slot))
    return { command, receiver, run, slot, expectedMs, hasEnded: false, watch: undefined }
  })
  for (const one of batch) open.add(one)
  signals.handingOver(slot, runs)
  for (const run of runs) {
    const { runId, task, attempt } = run
    execution.counts.started(run)
    execution.observe({ type: 'run-started', runId, task, attempt, thread: slot })
  }
  feed.handOver(batch)
}
