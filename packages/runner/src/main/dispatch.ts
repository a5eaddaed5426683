/**
 * Hands started runs to the threads in batches, and follows each one until its end is written. A run costs no promise,
 * signal or monitor here unless a loop has to look at it.
 *
 * Invariants. Only the thread's compare-and-exchange begins a run (ring-layout.ts). A run that was withdrawn has not
 * begun: it may go to another thread or be released. Every other run that was handed over is held, beaten for and asked
 * about until its end is written. A run that needs a slot for itself gets a slot without a load (execute.ts).
 */
import type { ClaimedRun } from '@q/store'
import type { RunReport } from '../protocol.ts'
import { conclude } from './conclude.ts'
import { isExclusive } from './execute.ts'
import { createFedSlots, createFedThread, executingOf, isOverdue, leftMs, type FedThread } from './fed-thread.ts'
import type { Holdings } from './holdings.ts'
import { monitorRun, type DispatchedRun, type MonitorDeps } from './monitor-run.ts'
import { createRoom, sumOf, type Room } from './placement.ts'
import { createPlainEnds } from './plain-ends.ts'
import type { PulseBoard } from './pulse-board.ts'
import { orderOf } from './run-order.ts'
import type { Slots } from './slots.ts'
import type { StartAhead } from './start-ahead.ts'
import type { Receiver, ThreadFeed } from './thread-feed.ts'
import type { Turns } from './turns.ts'

export interface DispatchDeps {
  readonly feeds: readonly ThreadFeed[]
  readonly startAhead: StartAhead
  readonly holdings: Holdings
  readonly turns: Turns
  readonly pulseBoard: PulseBoard
  /** Known once all loops are there. */
  readonly execution: () => MonitorDeps
  /** Executes a run that has the slot for itself. */
  readonly begin: (run: ClaimedRun, slot: number) => void
  /** Runs are about to be handed to the thread of this slot. */
  readonly onHandingOver: (slot: number, runs: readonly ClaimedRun[]) => void
  readonly vitals: { runBegan(): void; runEnded(): void }
  readonly wake: () => void
}

export interface Dispatch {
  readonly slots: Slots
  /** Hands over as many as fit, from the front; the others stay. They are started, so they may wait for busy threads. */
  place(unplaced: ClaimedRun[]): void
  /** What may be claimed. `freeMax`: how many threads without a load may be used. It is reserved until it is released. */
  room(freeMax: number, ahead: boolean): ReservedRoom
  /** Whether the run needs a slot for itself. */
  needsSlot(run: ClaimedRun): boolean
  /** Until each thread that takes runs has nothing left to do, by the expected durations of its runs. */
  leftMs(): readonly number[]
  /** Collects what has ended. `signalEnds`: whether threads are to signal every end from now on. */
  collect(signalEnds: boolean): void
  /** Runs that have not begun, and now will not. */
  withdrawAll(): ClaimedRun[]
  /** The same, of threads that have been busy for much longer than expected. */
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
  /** Its claim has been answered. */
  release(): void
}

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { holdings, startAhead, turns, vitals } = deps
  const threads = deps.feeds.map(createFedThread)
  const slots = createFedSlots(threads)
  const threadOf = (slot: number) => threads[slot] as FedThread
  /** Claims under way, and what they may bring. */
  const reserved = new Set<Room>()
  const plainEnds = createPlainEnds({ execution: deps.execution, settled, unsettled: concludeRun })

  const receiver: Receiver = {
    ended(handed, report, tookMs) {
      const one = handed as DispatchedRun
      one.hasEnded = true
      unload(one)
      if (tookMs > 0) startAhead.learn(one.run.task, tookMs)
      one.monitor?.pulse.codeEnded()
      one.monitor?.ended()
      const isPlain = typeof report === 'string' && !one.run.gated && one.monitor?.pulse.stopReason === undefined
      if (isPlain && turns.isOpen()) turns.add(plainEnds(one, report, tookMs))
      else concludeRun(one, report, tookMs)
      deps.wake()
    },
    returned(handed, why) {
      const one = handed as DispatchedRun
      unload(one)
      if (why === 'declined') forget(one)
      else {
        turns.unplaced.unshift(one.run)
        notBegun(one)
      }
      deps.wake()
    },
    said: (handed, said, reply) => monitorOf(handed as DispatchedRun).hear(said, reply),
  }

  function unload({ slot, expectedMs }: DispatchedRun): void {
    const { load } = threadOf(slot)
    load.runs--
    load.ms = load.runs === 0 ? 0 : load.ms - expectedMs
    if (load.runs === 0) vitals.runEnded()
  }

  function settled(one: DispatchedRun): void {
    holdings.settled(one.run)
    leave(one)
  }

  function notBegun(one: DispatchedRun): void {
    holdings.notBegun(one.run)
    leave(one)
  }

  /** Other replicas may start it; reconcile.ts releases it if they do not. */
  function forget(one: DispatchedRun): void {
    holdings.ended(one.run)
    notBegun(one)
  }

  function leave(one: DispatchedRun): void {
    one.monitor?.pulse.close()
    threadOf(one.slot).open.delete(one)
    slots.check()
  }

  /** The long way: everything that is not a plain success. */
  function concludeRun(one: DispatchedRun, report: string | RunReport, tookMs: number): void {
    const full: RunReport = typeof report === 'string' ? { ended: 'returned', result: report, repaired: [] } : report
    const { run, slot, monitor } = one
    const execution = deps.execution()
    void conclude(execution, run, { report: full, pulse: monitor?.pulse, slot, tookMs })
      .catch((error: unknown) => execution.observe({ type: 'run-unfinished', error }))
      .finally(() => {
        // Without an outcome the database still holds it: reconcile.ts compares.
        holdings.ended(run)
        leave(one)
        // The end of a step or of a keyed run may have let others go.
        deps.wake()
      })
  }

  function monitorOf(one: DispatchedRun): NonNullable<DispatchedRun['monitor']> {
    one.monitor ??= monitorRun(deps.execution(), one, () => stopUnbegun(one))
    if (one.hasEnded) one.monitor.pulse.codeEnded()
    return one.monitor
  }

  /** Withdraws a run that must stop. False: its code has begun. */
  function stopUnbegun(one: DispatchedRun): boolean {
    if (!threadOf(one.slot).feed.withdraw(one)) return false
    unload(one)
    const reason = one.monitor?.pulse.stopReason
    if (reason === 'cancelled' || reason === 'lease lost') concludeRun(one, { ended: 'aborted' }, 0)
    else forget(one)
    return true
  }

  function withdrawFrom({ feed, open }: FedThread): ClaimedRun[] {
    const withdrawn = (feed.waiting() as DispatchedRun[]).filter((one) => open.has(one) && feed.withdraw(one))
    for (const one of withdrawn) {
      unload(one)
      notBegun(one)
    }
    return withdrawn.map(({ run }) => run)
  }

  function handOver(thread: FedThread, runs: readonly ClaimedRun[]): void {
    const { feed, load, open } = thread
    const { slot } = feed
    const execution = deps.execution()
    if (load.runs === 0) vitals.runBegan()
    const batch = runs.map((run): DispatchedRun => {
      const expectedMs = startAhead.expectedMs(run.task)
      load.runs++
      load.ms += expectedMs
      holdings.begun(run)
      const order = orderOf(execution, run, deps.pulseBoard.nextSeq(slot))
      return { order, receiver, run, slot, expectedMs, hasEnded: false, monitor: undefined }
    })
    for (const one of batch) open.add(one)
    deps.onHandingOver(slot, runs)
    for (const { runId, task, attempt } of runs)
      execution.observe({ type: 'run-started', runId, task, attempt, thread: slot })
    feed.handOver(batch)
  }

  /** A thread that was relieved of its runs does not get them back. */
  function takesRuns(thread: FedThread): boolean {
    return !thread.exclusive && !isOverdue(thread, deps.pulseBoard)
  }

  function roomOf(freeMax: number, ahead: boolean): Room {
    const loads = threads.map((thread) => (takesRuns(thread) ? thread.load : undefined))
    const reservedBy = (slot: number) => [...reserved].flatMap(({ added }) => added[slot] ?? [])
    return createRoom(startAhead, {
      loads,
      freeMax,
      ahead,
      ringRoom: (slot) => threadOf(slot).feed.room(),
      reserved: threads.map((_, slot) => sumOf(reservedBy(slot))),
    })
  }

  function needsSlot(run: ClaimedRun): boolean {
    return isExclusive(deps.execution(), run)
  }

  return {
    slots,
    room(freeMax, ahead) {
      const room = roomOf(freeMax, ahead)
      reserved.add(room)
      return { ...room, release: () => void reserved.delete(room) }
    },
    place(unplaced) {
      if (unplaced.length === 0) return
      const places = roomOf(threads.length, true)
      const batches = new Map<number, ClaimedRun[]>()
      const alone: [ClaimedRun, number][] = []
      const rest: ClaimedRun[] = []
      for (const run of unplaced) {
        const isAlone = needsSlot(run)
        const slot = isAlone ? places.takeWhole() : places.take(run.task)
        if (slot === undefined) rest.push(run)
        else if (isAlone) alone.push([run, slot])
        else if (batches.has(slot)) batches.get(slot)?.push(run)
        else batches.set(slot, [run])
      }
      unplaced.splice(0, unplaced.length, ...rest)
      for (const [slot, runs] of batches) handOver(threadOf(slot), runs)
      for (const [run, slot] of alone) {
        threadOf(slot).exclusive = true
        deps.begin(run, slot)
      }
    },
    needsSlot,
    leftMs: () => threads.filter(takesRuns).map((thread) => leftMs(thread, deps.pulseBoard)),
    collect(signalEnds) {
      for (const { feed } of threads) feed.signalEnds(signalEnds)
    },
    withdrawAll: () => threads.flatMap(withdrawFrom),
    relieve: () => threads.flatMap((thread) => (isOverdue(thread, deps.pulseBoard) ? withdrawFrom(thread) : [])),
    openMonitors(beforeMs) {
      for (const thread of threads) {
        thread.feed.collect()
        const running = executingOf(thread)
        if (running !== undefined) monitorOf(running)
        if (beforeMs === undefined) continue
        for (const one of thread.open) if ((holdings.askedMs(one.run) ?? beforeMs) <= beforeMs) monitorOf(one)
      }
    },
    batches: () =>
      threads.filter(({ open }) => open.size > 0).map(({ feed: { slot }, open }) => ({ slot, runs: [...open] })),
  }
}
