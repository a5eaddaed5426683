/**
 * The shared memory through which a worker that is too busy for messages still speaks, and is spoken to.
 * One slot per run in execution; both sides import this file and nothing else of each other.
 *
 *   word 0      abort     main → worker   0 go on, else a reason (abortReasons)
 *   word 1      beats     worker → main   raised by every sign of life; a change is the evidence
 *   word 2      lastNote  worker → main   which buffer holds the last note, counted from 1; 0: no note yet
 *   word 3      reading   main → worker   which buffer is being read, counted from 1; 0: none
 *   word 4 … 6  noteSize  worker → main   bytes of the note in each buffer
 *   word 7      threadId  worker → main   which thread executes the run; 0: none yet
 *   byte 32     progress  worker → main   float64, NaN: none
 *   byte 40     notes     worker → main   three buffers of UTF-8: the last note, the one that is read, a free one
 */
const progressStart = 32
const notesStart = 40
const noteBuffers = 3
export const noteBytesMax = 240
const slotBytes: number = notesStart + noteBuffers * noteBytesMax

export const abortReasons = ['', 'cancelled', 'lease lost', 'replica draining'] as const
export type AbortReason = Exclude<(typeof abortReasons)[number], ''>

export interface PulseSlot {
  readonly words: Int32Array
  readonly progress: Float64Array
  /** Buffer n is notes[n - 1]. */
  readonly notes: readonly Uint8Array[]
}

export const word = { abort: 0, beats: 1, lastNote: 2, reading: 3, noteSize: 3, threadId: 7 } as const

export function pulseMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * slotBytes)
}

export function pulseSlot(memory: SharedArrayBuffer, index: number): PulseSlot {
  const start = index * slotBytes
  return {
    words: new Int32Array(memory, start, progressStart / Int32Array.BYTES_PER_ELEMENT),
    progress: new Float64Array(memory, start + progressStart, 1),
    notes: Array.from(
      { length: noteBuffers },
      (_, buffer) => new Uint8Array(memory, start + notesStart + buffer * noteBytesMax, noteBytesMax),
    ),
  }
}

/** The worker's side: into a buffer that is neither the last note nor being read, so nobody reads half a note. */
export function writeNote(slot: PulseSlot, bytes: Uint8Array): void {
  const taken = [Atomics.load(slot.words, word.lastNote), Atomics.load(slot.words, word.reading)]
  const buffer = [1, 2, 3].find((candidate) => !taken.includes(candidate)) ?? 1
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
