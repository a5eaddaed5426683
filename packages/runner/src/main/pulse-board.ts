/**
 * The main thread's view of all pulse slots: who has given a sign of life since when, and the flag that stops a run.
 *
 * Two ages. Of the beat: since the last evidence that the thread lives, be it the code's own sign, a tick of the
 * thread's timer, or CPU time it used. Of the silence: since the code's last explicit sign. Evidence is a change, seen
 * when somebody looks; its age counts from then, so a limit is never applied too early.
 */
import type { Lease } from '@q/store'
import {
  clearNews,
  pulseMemory,
  pulseSlot,
  readNote,
  sharedClockMs,
  stopRun,
  tagOf,
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
  /** The number of the run in its slot. */
  readonly seq: number
  /** Whether the run shares its slot with other runs of a batch. */
  readonly batched: boolean
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
  /** Whether its code has its slot: it is not over, and of a batch it is the run that has begun. */
  isExecuting(): boolean
  /** It was told to stop, and its code has not ended yet. */
  stopping(): boolean
  /** It is being stopped, or its code has ended: no limit applies to it any more, and the replica vouches for it. */
  inGoodHands(): boolean
  /** When the code began, by sharedClockMs(); null: it has not begun. */
  beganAtMs(): number | null
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
  /** The next number for a run in this slot. */
  nextSeq(slot: number): number
  /** A run that has the slot for itself. */
  open(facts: RunFacts, slot: number, nowMs: number): Pulse
  /** A run of a batch, whose thread may have begun it. `onStop`: whether the run was stopped without its code, which has not begun. */
  monitor(facts: RunFacts, slot: number, seq: number, nowMs: number, onStop: () => boolean): Pulse
  all(): readonly Pulse[]
  /** Called before every all(): opens monitors of runs that are executing without one. */
  openBefore(openMonitors: () => void): void
  /** When the run began, by sharedClockMs(); null: it has not begun, or another one has since. */
  beganAtMs(slot: number, seq: number): number | null
  /** Until then, by sharedClockMs(), no other replica starts a run of this slot. */
  setFenceDeadline(slot: number, atMs: number): void
}

export function createPulseBoard(slots: number): PulseBoard {
  const memory = pulseMemory(slots)
  const shared = Array.from({ length: slots }, (_, slot) => pulseSlot(memory, slot))
  const numbers = Array.from({ length: slots }, () => 0)
  const open = new Set<Pulse>()
  let openMonitors = () => {}
  const sharedOf = (slot: number) => shared[slot] as PulseSlot
  function nextSeq(slot: number): number {
    return (numbers[slot] = (numbers[slot] ?? 0) + 1)
  }
  function add(facts: RunFacts, place: Place, nowMs: number, onStop?: () => boolean): Pulse {
    const pulse = openPulse(facts, place, nowMs, { onStop, onClose: () => open.delete(pulse) })
    open.add(pulse)
    return pulse
  }
  return {
    memory,
    nextSeq,
    all() {
      openMonitors()
      return [...open]
    },
    openBefore: (given) => void (openMonitors = given),
    beganAtMs(slot, seq) {
      const { words, beganAt } = sharedOf(slot)
      return Atomics.load(words, word.begun) === tagOf(seq) ? (beganAt[0] ?? 0) : null
    },
    open(facts, slot, nowMs) {
      clearNews(sharedOf(slot))
      sharedOf(slot).fenceDeadline[0] = Number.POSITIVE_INFINITY
      return add(facts, { slot, seq: nextSeq(slot), shared: sharedOf(slot) }, nowMs)
    },
    monitor: (facts, slot, seq, nowMs, onStop) => add(facts, { slot, seq, shared: sharedOf(slot) }, nowMs, onStop),
    setFenceDeadline(slot, atMs) {
      sharedOf(slot).fenceDeadline[0] = Math.trunc(atMs)
    },
  }
}

interface Place {
  readonly slot: number
  readonly seq: number
  readonly shared: PulseSlot
}

interface Hooks {
  readonly onStop: (() => boolean) | undefined
  readonly onClose: () => void
}

/** CPU time is asked for only when nothing else has shown for so long that the thread lives. */
const cpuAskedAfterMs = 1_000
const cpuEvidenceMs = 1
/** Between two looks; more means that this process itself was stopped, and says nothing about its threads. */
const lookGapMsMax = 2_000

function openPulse(facts: RunFacts, { slot, seq, shared }: Place, openedMs: number, { onStop, onClose }: Hooks): Pulse {
  const { words } = shared
  const hasBegun = () => Atomics.load(words, word.begun) === tagOf(seq)
  const controller = new AbortController()
  const outOfTime = new AbortController()
  let stopReason: AbortReason | undefined
  let extended: (atMs: number) => void = () => {}
  let ended = false
  let closed = false
  let measure: (() => Measured | undefined) | undefined
  let beganMs: number | undefined
  let lookedMs = openedMs
  const first = { ticks: Atomics.load(words, word.ticks), signs: Atomics.load(words, word.signs) }
  const beat = { ticks: first.ticks, cpuMs: undefined as number | undefined, seenMs: openedMs }
  const sign = { signs: first.signs, seenMs: openedMs }

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
    seq,
    batched: onStop !== undefined,
    facts,
    signal: controller.signal,
    get stopReason() {
      return stopReason
    },
    stop(reason) {
      if (closed || stopReason !== undefined) return
      stopReason = reason
      if (ended || onStop?.() === true) return
      stopRun(shared, seq, reason)
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
    isExecuting: () => !ended && (onStop === undefined || hasBegun()),
    stopping: () => !ended && stopReason !== undefined,
    inGoodHands: () => ended || stopReason !== undefined,
    noticed: () => Atomics.load(words, word.noticed) === tagOf(seq),
    beganAtMs: () => (hasBegun() ? (shared.beganAt[0] ?? 0) : null),
    measureBy(by) {
      measure = by
    },
    measured: () => measure?.(),
    look(nowMs) {
      const missedMs = Math.max(0, nowMs - lookedMs - lookGapMsMax)
      lookedMs = nowMs
      beat.seenMs += missedMs
      sign.seenMs += missedMs
      // Still in our own hands, or behind another run of its batch.
      if (measure === undefined || (onStop !== undefined && !hasBegun())) beat.seenMs = nowMs
      if (beganMs === undefined && hasBegun()) {
        beganMs = nowMs - sinceMs(shared.beganAt[0])
        beat.seenMs = nowMs
        sign.seenMs = beganMs
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
      const news = { progress: Number.isNaN(progress) ? null : progress, note: noteOf(shared) }
      // Read before: if the run still has its slot, they are its own.
      return hasBegun() ? news : { progress: null, note: null }
    },
    counts: () => ({
      ticks: Atomics.load(words, word.ticks) - first.ticks,
      signs: Atomics.load(words, word.signs) - first.signs,
    }),
    close() {
      closed = true
      onClose()
    },
  }
}

/** How long ago a moment of the shared clock was; 0 if it is unknown. */
function sinceMs(atMs: number | undefined): number {
  return atMs === undefined || atMs === 0 ? 0 : Math.max(0, sharedClockMs() - atMs)
}

function noteOf(shared: PulseSlot): string | null {
  const bytes = readNote(shared)
  return bytes === undefined ? null : new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}
