/**
 * The shared memory through which a worker that is too busy for messages still speaks, and is spoken to.
 * One slot per run in execution; both sides import this file and nothing else of each other.
 *
 *   word 0      abort     main → worker   0 go on, else a reason (abortReasons)
 *   word 1      ticks     worker → main   raised by a timer while the thread is free: the thread lives
 *   word 2      lastNote  worker → main   which buffer holds the last note, counted from 1; 0: no note yet
 *   word 3      reading   main → worker   which buffer is being read, counted from 1; 0: none
 *   word 4 … 6  noteSize  worker → main   bytes of the note in each buffer
 *   word 7      threadId  worker → main   which thread executes the run; 0: none yet
 *   word 8      signs     worker → main   raised by every explicit sign of the code: heartbeat, progress, log
 *   word 9      noticed   worker → main   1: the code has seen that it is to stop
 *   byte 40     progress  worker → main   float64, NaN: none
 *   byte 48     fenceDeadline main → worker   float64, by sharedClockMs(): after it other replicas may start the run;
 *                                         Infinity: no other replica may
 *   byte 56     notes     worker → main   three buffers of UTF-8: the last note, the one that is read, a free one
 */
const progressStart = 40
const fenceDeadlineStart = 48
const notesStart = 56
const noteBuffers = 3
const noteBytesMax = 240
const slotBytes: number = notesStart + noteBuffers * noteBytesMax

/** What a run can be told to stop for. The order is part of the layout: a reason is its place here. */
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

export interface PulseSlot {
  readonly words: Int32Array
  readonly progress: Float64Array
  readonly fenceDeadline: Float64Array
  /** Buffer n is notes[n - 1]. */
  readonly notes: readonly Uint8Array[]
}

export const word = {
  abort: 0,
  ticks: 1,
  lastNote: 2,
  reading: 3,
  noteSize: 3,
  threadId: 7,
  signs: 8,
  noticed: 9,
} as const

export function pulseMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * slotBytes)
}

export function pulseSlot(memory: SharedArrayBuffer, index: number): PulseSlot {
  const start = index * slotBytes
  return {
    words: new Int32Array(memory, start, progressStart / Int32Array.BYTES_PER_ELEMENT),
    progress: new Float64Array(memory, start + progressStart, 1),
    fenceDeadline: new Float64Array(memory, start + fenceDeadlineStart, 1),
    notes: Array.from(
      { length: noteBuffers },
      (_, buffer) => new Uint8Array(memory, start + notesStart + buffer * noteBytesMax, noteBytesMax),
    ),
  }
}

/** Before a run is given to a worker. */
export function clearSlot({ words, progress, fenceDeadline }: PulseSlot): void {
  for (let index = 0; index < words.length; index++) Atomics.store(words, index, 0)
  progress[0] = Number.NaN
  fenceDeadline[0] = Number.POSITIVE_INFINITY
}

/** The monotonic clock that all threads and processes of a machine share; that of `performance` begins with each thread. */
export function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/** Whether other replicas may have started the run by now. Reads the clock only for runs that have a deadline. */
export function isPastFenceDeadline({ fenceDeadline }: PulseSlot): boolean {
  const untilMs = fenceDeadline[0] ?? Number.POSITIVE_INFINITY
  return untilMs !== Number.POSITIVE_INFINITY && sharedClockMs() > untilMs
}

/** Requests a stop, unless one was requested before. */
export function stopSlot({ words }: PulseSlot, reason: AbortReason): void {
  Atomics.compareExchange(words, word.abort, 0, abortReasons.indexOf(reason))
  Atomics.notify(words, word.abort)
}

/** Why a stop was requested, by the main thread or by the thread of the run. */
export function stopReasonOf({ words }: PulseSlot): AbortReason | undefined {
  return abortReasons[Atomics.load(words, word.abort)] || undefined
}

/** What was seen in a slot of another process, written into one of ours: the reader's side of ours notices no difference. */
export interface SeenElsewhere {
  readonly threadId: number
  readonly ticks: number
  readonly signs: number
  readonly noticed: boolean
  readonly progress: number | null
  readonly note: string | null
}

export function mirrorPulse(memory: SharedArrayBuffer, index: number, seen: SeenElsewhere): void {
  const slot = pulseSlot(memory, index)
  Atomics.store(slot.words, word.threadId, seen.threadId)
  Atomics.store(slot.words, word.ticks, seen.ticks)
  Atomics.store(slot.words, word.signs, seen.signs)
  Atomics.store(slot.words, word.noticed, seen.noticed ? 1 : 0)
  slot.progress[0] = seen.progress ?? Number.NaN
  if (seen.note !== null) writeNote(slot, encodedNote(seen.note))
}

const encoder = new TextEncoder()
const encoded = new Uint8Array(noteBytesMax)

/** Cut to what fits. Good until the next call: a note is written at once, and often. */
export function encodedNote(note: string): Uint8Array {
  return encoded.subarray(0, encoder.encodeInto(note, encoded).written)
}

/** The worker's side: into a buffer that is neither the last note nor being read, so nobody reads half a note. */
export function writeNote(slot: PulseSlot, bytes: Uint8Array): void {
  const last = Atomics.load(slot.words, word.lastNote)
  const reading = Atomics.load(slot.words, word.reading)
  const buffer = last !== 1 && reading !== 1 ? 1 : last !== 2 && reading !== 2 ? 2 : 3
  slot.notes[buffer - 1]?.set(bytes)
  Atomics.store(slot.words, word.noteSize + buffer, bytes.length)
  Atomics.store(slot.words, word.lastNote, buffer)
}

/** The main thread's side: a buffer that is still the last note after it was marked as read will not be written to. */
export function readNote(slot: PulseSlot): Uint8Array | undefined {
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
