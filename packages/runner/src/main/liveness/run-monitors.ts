/**
 * The monitors of all runs of this process, and the shared memory with a slot for each thread. A short run of a batch gets
 * a monitor only when a loop has to look at it (dispatch/watch-run.ts).
 */
import { clearProgress, createSlotMemory, slotMemoryAt, type SlotMemory } from '../../protocol/slot-layout.ts'
import { hasBegun, type SlotOfRun } from './run-evidence.ts'
import { openMonitor, type RunFacts, type RunMonitor } from './run-monitor.ts'

export interface RunMonitors {
  readonly memory: SharedArrayBuffer
  /** The next number for a run in this slot. */
  nextSeq(slot: number): number
  /** Opens the monitor of a run that has the slot for itself. */
  open(facts: RunFacts, slot: number, nowMs: number): RunMonitor
  /** Opens the monitor of a run of a batch. `onStop` returns whether the run was stopped before its code began. */
  openInBatch(facts: RunFacts, slot: number, seq: number, nowMs: number, onStop: () => boolean): RunMonitor
  all(): readonly RunMonitor[]
  /** Called before every all(): opens monitors of runs that are executing without one. */
  openBefore(openMonitors: () => void): void
  /** When the run began, by sharedClockMs(); null: it has not begun, or a later run has. */
  beganAtMs(slot: number, seq: number): number | null
  /** Until this deadline, by sharedClockMs(), no other replica starts a run of this slot. */
  setFenceDeadline(slot: number, atMs: number): void
}

export function createRunMonitors(slots: number): RunMonitors {
  const memory = createSlotMemory(slots)
  const shared = Array.from({ length: slots }, (_, slot) => slotMemoryAt(memory, slot))
  const numbers = Array.from({ length: slots }, () => 0)
  const open = new Set<RunMonitor>()
  let openMonitors = () => {}
  const sharedOf = (slot: number) => shared[slot] as SlotMemory
  function nextSeq(slot: number): number {
    return (numbers[slot] = (numbers[slot] ?? 0) + 1)
  }
  function add(facts: RunFacts, slotOfRun: SlotOfRun, nowMs: number, onStop?: () => boolean): RunMonitor {
    const monitor = openMonitor(facts, slotOfRun, nowMs, { onStop, onClose: () => open.delete(monitor) })
    open.add(monitor)
    return monitor
  }
  return {
    memory,
    nextSeq,
    all() {
      openMonitors()
      return [...open]
    },
    openBefore: (given) => void (openMonitors = given),
    beganAtMs: (slot, seq) => (hasBegun(sharedOf(slot), seq) ? (sharedOf(slot).beganAt[0] ?? 0) : null),
    open(facts, slot, nowMs) {
      clearProgress(sharedOf(slot))
      sharedOf(slot).fenceDeadline[0] = Number.POSITIVE_INFINITY
      return add(facts, { slot, seq: nextSeq(slot), shared: sharedOf(slot) }, nowMs)
    },
    openInBatch: (facts, slot, seq, nowMs, onStop) => add(facts, { slot, seq, shared: sharedOf(slot) }, nowMs, onStop),
    setFenceDeadline(slot, atMs) {
      sharedOf(slot).fenceDeadline[0] = Math.trunc(atMs)
    },
  }
}
