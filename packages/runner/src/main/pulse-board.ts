/**
 * The main thread's view of all pulse slots: who has given a sign of life since when, and the flag that stops a run.
 * A sign is a change of the slot's counter, seen when somebody looks; its age counts from then.
 */
import type { Lease } from '@q/store'
import {
  abortReasons,
  pulseMemory,
  pulseSlot,
  readNote,
  word,
  type AbortReason,
  type PulseSlot,
} from '../pulse-layout.ts'

export interface Pulse {
  readonly lease: Lease
  readonly slot: number
  /** Aborts after stop(). */
  readonly signal: AbortSignal
  readonly stopReason: AbortReason | undefined
  stop(reason: AbortReason): void
  /** Of the thread that executes it; 0 before it has begun. */
  threadId(): number
  look(nowMs: number): Sign
  close(): void
}

export interface Sign {
  /** Since the last evidence that the code is alive. */
  readonly silentMs: number
  readonly progress: number | null
  readonly note: string | null
}

export interface PulseBoard {
  readonly memory: SharedArrayBuffer
  open(lease: Lease, slot: number, nowMs: number): Pulse
  all(): readonly Pulse[]
}

export function createPulseBoard(slots: number): PulseBoard {
  const memory = pulseMemory(slots)
  const open = new Map<number, Pulse>()
  return {
    memory,
    all: () => [...open.values()],
    open(lease, slot, nowMs) {
      const pulse = openPulse(lease, slot, pulseSlot(memory, slot), nowMs, () => open.delete(slot))
      open.set(slot, pulse)
      return pulse
    },
  }
}

function openPulse(lease: Lease, slot: number, shared: PulseSlot, openedMs: number, onClose: () => void): Pulse {
  const controller = new AbortController()
  let stopReason: AbortReason | undefined
  let seen = 0
  let seenMs = openedMs
  Atomics.store(shared.words, word.abort, 0)
  Atomics.store(shared.words, word.beats, 0)
  Atomics.store(shared.words, word.lastNote, 0)
  Atomics.store(shared.words, word.threadId, 0)
  shared.progress[0] = Number.NaN
  return {
    lease,
    slot,
    signal: controller.signal,
    get stopReason() {
      return stopReason
    },
    stop(reason) {
      if (stopReason !== undefined) return
      stopReason = reason
      Atomics.store(shared.words, word.abort, abortReasons.indexOf(reason))
      Atomics.notify(shared.words, word.abort)
      controller.abort()
    },
    threadId: () => Atomics.load(shared.words, word.threadId),
    look(nowMs) {
      const beats = Atomics.load(shared.words, word.beats)
      if (beats !== seen) seenMs = nowMs
      seen = beats
      const progress = shared.progress[0] ?? Number.NaN
      return { silentMs: nowMs - seenMs, progress: Number.isNaN(progress) ? null : progress, note: noteOf(shared) }
    },
    close: onClose,
  }
}

function noteOf(shared: PulseSlot): string | null {
  const bytes = readNote(shared)
  return bytes === undefined ? null : new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}
