/**
 * The main thread's view of all pulse slots: who has given a sign of life since when, and the flag that stops a run.
 *
 * Two ages. Of the beat: since the last evidence that the thread lives, be it the code's own sign, a tick of the
 * thread's timer, or CPU time it used. Of the silence: since the code's last explicit sign. Evidence is a change, seen
 * when somebody looks; its age counts from then, so a limit is never applied too early.
 */
import type { Lease } from '@q/store'
import {
  abortReasons,
  clearSlot,
  pulseMemory,
  pulseSlot,
  readNote,
  word,
  type AbortReason,
  type PulseSlot,
} from '../pulse-layout.ts'

/** What the thread or child of a run is doing, as far as it can be measured from outside. */
export interface Measured {
  /** CPU time used so far. */
  readonly cpuMs: number
  readonly heapMb: number | null
  /** 0 to 1, since the last time it was asked for. */
  readonly eventLoopUse: number | null
}

export interface RunFacts {
  readonly lease: Lease
  readonly task: string
  readonly isolation: 'thread' | 'process'
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
}

export interface Pulse {
  readonly lease: Lease
  readonly slot: number
  readonly facts: RunFacts
  /** Aborts after stop(). */
  readonly signal: AbortSignal
  readonly stopReason: AbortReason | undefined
  /** The first reason counts; none once it is closed: an answer may come late, and the slot has the next run by then. */
  stop(reason: AbortReason): void
  /** Aborts after cutShort(). */
  readonly outOfTime: AbortSignal
  /** Whatever grace it was given is over. */
  cutShort(): void
  /** Until this deadline, by sharedClockMs(), no other replica starts the run; after it, its own thread or child stops it. */
  setFenceDeadline(atMs: number): void
  fenceDeadlineMs(): number
  /** Calls `listener` with every later change. */
  onFenceDeadline(listener: (atMs: number) => void): void
  /** The code has seen that it is to stop. */
  noticed(): boolean
  /** The code cannot act any more; what came of it is being written. */
  codeEnded(): void
  /** It was told to stop, and its code has not ended yet. */
  stopping(): boolean
  /** It is being stopped, or its code has ended: no limit applies to it any more, and the replica vouches for it. */
  inGoodHands(): boolean
  /** Of the thread that executes it; 0 before it has begun. */
  threadId(): number
  /** It was sent to somebody who executes it, and this is how to measure them. Before, there is nobody to be silent. */
  measureBy(measure: () => Measured | undefined): void
  measured(): Measured | undefined
  /** Looks for evidence. */
  look(nowMs: number): Ages
  news(): News
  /** The raw counters, for whoever relays them. */
  counts(): { readonly ticks: number; readonly signs: number }
  close(): void
}

export interface Ages {
  /** Since a thread took the run; undefined: none has yet. */
  readonly ranMs: number | undefined
  readonly beatMs: number
  readonly silentMs: number
}

export interface News {
  readonly progress: number | null
  readonly note: string | null
}

export interface PulseBoard {
  readonly memory: SharedArrayBuffer
  open(facts: RunFacts, slot: number, nowMs: number): Pulse
  all(): readonly Pulse[]
}

export function createPulseBoard(slots: number): PulseBoard {
  const memory = pulseMemory(slots)
  const open = new Map<number, Pulse>()
  return {
    memory,
    all: () => [...open.values()],
    open(facts, slot, nowMs) {
      const pulse = openPulse(facts, slot, pulseSlot(memory, slot), nowMs, () => open.delete(slot))
      open.set(slot, pulse)
      return pulse
    },
  }
}

/** CPU time is asked for only when nothing else has shown for so long that the thread lives. */
const cpuAskedAfterMs = 1_000
const cpuEvidenceMs = 1
/** Between two looks; more means that this process itself was stopped, and says nothing about its threads. */
const lookGapMsMax = 2_000

function openPulse(facts: RunFacts, slot: number, shared: PulseSlot, openedMs: number, onClose: () => void): Pulse {
  const { words } = shared
  const controller = new AbortController()
  const outOfTime = new AbortController()
  let stopReason: AbortReason | undefined
  let extended: (atMs: number) => void = () => {}
  let ended = false
  let closed = false
  let measure: (() => Measured | undefined) | undefined
  let beganMs: number | undefined
  let lookedMs = openedMs
  const beat = { ticks: 0, cpuMs: undefined as number | undefined, seenMs: openedMs }
  const sign = { signs: 0, seenMs: openedMs }
  clearSlot(shared)

  function fenceDeadlineMs(): number {
    return shared.fenceDeadline[0] ?? Number.POSITIVE_INFINITY
  }

  /** Counts from the first reading: the thread has used CPU time before this run. */
  function usesCpu(): boolean {
    const cpuMs = measure?.()?.cpuMs
    const used = cpuMs !== undefined && cpuMs - (beat.cpuMs ?? cpuMs) >= cpuEvidenceMs
    if (used || beat.cpuMs === undefined) beat.cpuMs = cpuMs
    return used
  }

  return {
    lease: facts.lease,
    slot,
    facts,
    signal: controller.signal,
    get stopReason() {
      return stopReason
    },
    stop(reason) {
      if (closed || stopReason !== undefined) return
      stopReason = reason
      Atomics.store(words, word.abort, abortReasons.indexOf(reason))
      Atomics.notify(words, word.abort)
      controller.abort()
    },
    setFenceDeadline(atMs) {
      if (closed || Math.trunc(atMs) === fenceDeadlineMs()) return
      shared.fenceDeadline[0] = Math.trunc(atMs)
      extended(Math.trunc(atMs))
    },
    fenceDeadlineMs,
    onFenceDeadline(listener) {
      extended = listener
    },
    outOfTime: outOfTime.signal,
    cutShort: () => outOfTime.abort(),
    codeEnded() {
      ended = true
    },
    stopping: () => !ended && stopReason !== undefined,
    inGoodHands: () => ended || stopReason !== undefined,
    noticed: () => Atomics.load(words, word.noticed) !== 0,
    threadId: () => Atomics.load(words, word.threadId),
    measureBy(by) {
      measure = by
    },
    measured: () => measure?.(),
    look(nowMs) {
      const missedMs = Math.max(0, nowMs - lookedMs - lookGapMsMax)
      lookedMs = nowMs
      beat.seenMs += missedMs
      sign.seenMs += missedMs
      if (measure === undefined) beat.seenMs = nowMs // still in our own hands
      if (beganMs === undefined && Atomics.load(words, word.threadId) !== 0) {
        beganMs = nowMs
        beat.seenMs = nowMs
        sign.seenMs = nowMs
      }
      const [ticks, signs] = [Atomics.load(words, word.ticks), Atomics.load(words, word.signs)]
      if (signs !== sign.signs) sign.seenMs = nowMs
      const shown = signs !== sign.signs || ticks !== beat.ticks
      if (shown || (nowMs - beat.seenMs >= cpuAskedAfterMs && usesCpu())) beat.seenMs = nowMs
      sign.signs = signs
      beat.ticks = ticks
      const ranMs = beganMs === undefined ? undefined : nowMs - beganMs
      return { ranMs, beatMs: nowMs - beat.seenMs, silentMs: ranMs === undefined ? 0 : nowMs - sign.seenMs }
    },
    news() {
      const progress = shared.progress[0] ?? Number.NaN
      return { progress: Number.isNaN(progress) ? null : progress, note: noteOf(shared) }
    },
    counts: () => ({ ticks: Atomics.load(words, word.ticks), signs: Atomics.load(words, word.signs) }),
    close() {
      closed = true
      onClose()
    },
  }
}

function noteOf(shared: PulseSlot): string | null {
  const bytes = readNote(shared)
  return bytes === undefined ? null : new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}
