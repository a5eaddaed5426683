/**
 * The main thread's view of one run: its evidence of life, its progress, its stop flag and its fence deadline. All of it
 * is in the shared memory of the slot, so it works while the code of the run is busy.
 */
import type { Lease } from '@q/store'
import { redact } from '../../output/redact.ts'
import {
  noteBytesMax,
  readNote,
  stopRun,
  tagOf,
  word,
  type AbortReason,
  type SlotMemory,
} from '../../protocol/slot-layout.ts'
import { createRunEvidence, hasBegun, type RunEvidence, type SlotOfRun } from './run-evidence.ts'

export interface RunFacts {
  readonly lease: Lease
  readonly task: string
  readonly isolation: 'thread' | 'process'
  readonly timeoutMs: number | null
  readonly maxSilentMs: number | null
}

export interface RunMonitor extends RunEvidence {
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
  /** Only the first reason counts. No effect after close(): a late response must not stop the next run of the slot. */
  stop(reason: AbortReason): void
  /** Aborts after cutShort(). */
  readonly outOfTime: AbortSignal
  /** Ends the grace that the run has to stop. */
  cutShort(): void
  /** Until this deadline, by sharedClockMs(), no other replica starts the run. After it, the thread or child stops the run itself. */
  setFenceDeadline(atMs: number): void
  fenceDeadlineMs(): number
  /** Calls `listener` with every later change. */
  onFenceDeadline(listener: (atMs: number) => void): void
  /** Whether the code has noticed the stop request. */
  noticed(): boolean
  /** The code can no longer act; its outcome is being written. */
  codeEnded(): void
  /** Whether the code of this run has the slot: it has not ended, and in a batch it is the run that has begun. */
  isExecuting(): boolean
  /** Whether a stop was requested and the code has not ended yet. */
  stopping(): boolean
  /** Whether the run is being stopped or its code has ended: then no limit applies, and the replica sends its heartbeats. */
  isBeingHandled(): boolean
  /** When the code began, by sharedClockMs(); null: it has not begun. */
  beganAtMs(): number | null
  progressUpdate(): ProgressUpdate
  close(): void
}

export interface ProgressUpdate {
  readonly progress: number | null
  readonly note: string | null
}

export interface MonitorHooks {
  /** For a run of a batch: returns whether it was stopped before its code began. */
  readonly onStop: (() => boolean) | undefined
  readonly onClose: () => void
}

export function openMonitor(facts: RunFacts, slotOfRun: SlotOfRun, openedMs: number, hooks: MonitorHooks): RunMonitor {
  const { slot, seq, shared } = slotOfRun
  const { onStop, onClose } = hooks
  const batched = onStop !== undefined
  const evidence = createRunEvidence(slotOfRun, openedMs, batched)
  const isBegun = () => hasBegun(shared, seq)
  const controller = new AbortController()
  const outOfTime = new AbortController()
  let stopReason: AbortReason | undefined
  let extended: (atMs: number) => void = () => {}
  let ended = false
  let closed = false
  const fenceDeadlineMs = () => shared.fenceDeadline[0] ?? Number.POSITIVE_INFINITY

  return {
    ...evidence,
    lease: facts.lease,
    slot,
    seq,
    batched,
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
    onFenceDeadline: (listener) => void (extended = listener),
    outOfTime: outOfTime.signal,
    cutShort: () => outOfTime.abort(),
    codeEnded: () => void (ended = true),
    isExecuting: () => !ended && (!batched || isBegun()),
    stopping: () => !ended && stopReason !== undefined,
    isBeingHandled: () => ended || stopReason !== undefined,
    noticed: () => Atomics.load(shared.words, word.noticed) === tagOf(seq),
    beganAtMs: () => (isBegun() ? (shared.beganAt[0] ?? 0) : null),
    progressUpdate() {
      const update = progressOf(shared)
      // The update was read before this check. If the run still has its slot, the update belongs to it.
      return isBegun() ? update : { progress: null, note: null }
    },
    close() {
      closed = true
      onClose()
    },
  }
}

function progressOf(shared: SlotMemory): ProgressUpdate {
  const progress = shared.progress[0] ?? Number.NaN
  const bytes = readNote(shared)
  return {
    progress: Number.isNaN(progress) ? null : progress,
    note: bytes === undefined ? null : noteOf(bytes),
  }
}

const characterBytesMax = 4

/** Without secrets. A note that was truncated may end within one, which cannot be recognised then: its last word is left out. */
function noteOf(bytes: Uint8Array): string {
  const note = new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
  if (bytes.length <= noteBytesMax - characterBytesMax) return redact(note)
  // The marks end a quoted text that was cut; a backslash before them would escape them.
  return redact(`${note.replace(/\\+$/, '')}"'`).replace(/\S*$/, '…')
}
