/**
 * The shared memory between the main thread and a worker thread, for a worker that is too busy to handle messages. There is
 * one slot per thread; both sides import this file and nothing else of each other.
 *
 * A thread executes one run after the other, and either side may be late. So every run has a number within its slot, and
 * every word that concerns one run contains that number: a late stop does not stop the next run, and the main thread does
 * not attribute the signs of one run to another. Counters are never reset; a sign of life is a change.
 *
 *   word 0      stop      main → worker   number of the run that is to stop, and the reason (abortReasons); 0: none
 *   word 1      ticks     worker → main   raised by a timer while the thread is free: the thread lives
 *   word 2      lastNote  worker → main   which buffer holds the last note, counted from 1; 0: no note yet
 *   word 3      reading   main → worker   which buffer is being read, counted from 1; 0: none
 *   word 4 … 6  noteSize  worker → main   bytes of the note in each buffer
 *   word 7      begun     worker → main   number of the run that began last; 0: none yet
 *   word 8      signs     worker → main   raised by every explicit sign of the code: heartbeat, progress, log
 *   word 9      noticed   worker → main   number of the run whose code has seen that it is to stop
 *   byte 40     progress  worker → main   float64, NaN: none
 *   byte 48     fenceDeadline main → worker   float64, by sharedClockMs(): after it other replicas may start a run of
 *                                         this slot; runs that no other replica may start ignore it
 *   byte 56     beganAt   worker → main   float64, by sharedClockMs(): when the run that began last did
 *   byte 64     notes     worker → main   three buffers of UTF-8: the last note, the one that is read, a free one
 */
import { ownClocks } from './own-clocks.ts'

const progressStart = 40
const fenceDeadlineStart = 48
const beganAtStart = 56
const notesStart = 64
const noteBuffers = 3
export const noteBytesMax = 240
const slotBytes: number = notesStart + noteBuffers * noteBytesMax

/** The reasons to stop a run. The order is part of the layout: a reason is stored as its index. */
export const abortReasons = [
  '',
  'cancelled',
  'lease lost',
  'replica draining',
  'timed out',
  'silent for too long',
  'cut off from the database',
  'no evidence of life',
] as const
export type AbortReason = Exclude<(typeof abortReasons)[number], ''>

export interface SlotMemory {
  readonly words: Int32Array
  readonly progress: Float64Array
  readonly fenceDeadline: Float64Array
  readonly beganAt: Float64Array
  /** Buffer n is notes[n - 1]. */
  readonly notes: readonly Uint8Array[]
}

export const word = {
  stop: 0,
  ticks: 1,
  lastNote: 2,
  reading: 3,
  noteSize: 3,
  begun: 7,
  signs: 8,
  noticed: 9,
} as const

export function createSlotMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * slotBytes)
}

export function slotMemoryAt(memory: SharedArrayBuffer, index: number): SlotMemory {
  const start = index * slotBytes
  return {
    words: new Int32Array(memory, start, progressStart / Int32Array.BYTES_PER_ELEMENT),
    progress: new Float64Array(memory, start + progressStart, 1),
    fenceDeadline: new Float64Array(memory, start + fenceDeadlineStart, 1),
    beganAt: new Float64Array(memory, start + beganAtStart, 1),
    notes: Array.from(
      { length: noteBuffers },
      (_, buffer) => new Uint8Array(memory, start + notesStart + buffer * noteBytesMax, noteBytesMax),
    ),
  }
}

/** Before a run begins: no progress and no note yet. */
export function clearProgress({ words, progress }: SlotMemory): void {
  progress[0] = Number.NaN
  Atomics.store(words, word.lastNote, 0)
}

/** The monotonic clock that all threads and processes of a machine share; that of `performance` begins with each thread. */
export function sharedClockMs(): number {
  const [seconds, nanoseconds] = ownClocks.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/** Whether other replicas may have started the runs of this slot that they may start. */
export function isPastFenceDeadline({ fenceDeadline }: SlotMemory): boolean {
  return sharedClockMs() > (fenceDeadline[0] ?? Number.POSITIVE_INFINITY)
}

/** The part of a number that fits into the word `stop` beside the reason. */
const numberMask = 0x7ff_ffff
const reasonBits = 4
const reasonMask = 15

/** The number that represents run `seq` in a word. */
export function tagOf(seq: number): number {
  return seq & numberMask
}

/**
 * Requests a stop of run `seq`, unless one was requested before. A late request, for a run that has ended, does not replace
 * that of a later run, which may not have seen it yet.
 */
export function stopRun({ words }: SlotMemory, seq: number, reason: AbortReason): void {
  const stop = (tagOf(seq) << reasonBits) | abortReasons.indexOf(reason)
  for (;;) {
    const before = Atomics.load(words, word.stop)
    if (before !== 0 && isAtOrAfter(before >> reasonBits, tagOf(seq))) return
    // Fails if the thread has just dropped the stop of an earlier run.
    if (Atomics.compareExchange(words, word.stop, before, stop) === before) break
  }
  Atomics.notify(words, word.stop)
}

/**
 * The worker's side, before run `seq` begins: drops the stop of an earlier run. It would count again, for another run, once
 * the numbers have wrapped around.
 */
export function dropEarlierStop({ words }: SlotMemory, seq: number): void {
  const stop = Atomics.load(words, word.stop)
  if (stop !== 0 && !isAtOrAfter(stop >> reasonBits, tagOf(seq))) Atomics.compareExchange(words, word.stop, stop, 0)
}

/** Numbers wrap around: a slot may execute more runs than fit into the mask. */
function isAtOrAfter(tag: number, other: number): boolean {
  return ((tag - other) & numberMask) <= numberMask >> 1
}

/** Why a stop of run `seq` was requested, by the main thread or by the thread of the run. */
export function stopReasonOf({ words }: SlotMemory, seq: number): AbortReason | undefined {
  const value = Atomics.load(words, word.stop)
  return value >> reasonBits === tagOf(seq) ? abortReasons[value & reasonMask] || undefined : undefined
}

/** Values read from a slot of another process, to be written into a slot of this one. */
export interface SlotReading {
  /** By sharedClockMs(); null: the run has not begun. */
  readonly beganAtMs: number | null
  readonly ticks: number
  readonly signs: number
  readonly noticed: boolean
  readonly progress: number | null
  readonly note: string | null
}

export function mirrorSlot(memory: SharedArrayBuffer, index: number, seq: number, seen: SlotReading): void {
  const slot = slotMemoryAt(memory, index)
  if (seen.beganAtMs !== null) {
    slot.beganAt[0] = seen.beganAtMs
    Atomics.store(slot.words, word.begun, tagOf(seq))
  }
  Atomics.store(slot.words, word.ticks, seen.ticks)
  Atomics.store(slot.words, word.signs, seen.signs)
  if (seen.noticed) Atomics.store(slot.words, word.noticed, tagOf(seq))
  slot.progress[0] = seen.progress ?? Number.NaN
  if (seen.note !== null) writeNote(slot, encodedNote(seen.note))
}

const encoder = new TextEncoder()
const encoded = new Uint8Array(noteBytesMax)

/** The note as bytes, truncated to its buffer. Valid until the next call: the caller writes it at once, and notes are frequent. */
export function encodedNote(note: string): Uint8Array {
  return encoded.subarray(0, encoder.encodeInto(note, encoded).written)
}

/** The worker's side: uses a buffer that neither holds the last note nor is being read, so the main thread never reads half a note. */
export function writeNote(slot: SlotMemory, bytes: Uint8Array): void {
  const last = Atomics.load(slot.words, word.lastNote)
  const reading = Atomics.load(slot.words, word.reading)
  const buffer = last !== 1 && reading !== 1 ? 1 : last !== 2 && reading !== 2 ? 2 : 3
  slot.notes[buffer - 1]?.set(bytes)
  Atomics.store(slot.words, word.noteSize + buffer, bytes.length)
  Atomics.store(slot.words, word.lastNote, buffer)
}

/** The main thread's side: if a buffer still holds the last note after it was marked, the worker does not write to it. */
export function readNote(slot: SlotMemory): Uint8Array | undefined {
  for (let tries = 0; tries < readTriesMax; tries++) {
    const buffer = Atomics.load(slot.words, word.lastNote)
    if (buffer === 0) return undefined
    Atomics.store(slot.words, word.reading, buffer)
    if (Atomics.load(slot.words, word.lastNote) !== buffer) continue
    const bytes = slot.notes[buffer - 1]?.slice(0, Atomics.load(slot.words, word.noteSize + buffer))
    Atomics.store(slot.words, word.reading, 0)
    return bytes
  }
  return undefined
}

const readTriesMax = 1_000
