/**
 * The shared memory through which a worker that is too busy for messages still speaks, and is spoken to.
 * One slot per run in execution; both sides import this file and nothing else of each other.
 *
 *   word 0      abort     main → worker   0 go on, else a reason (abortReasons)
 *   word 1      beats     worker → main   raised by every sign of life; a change is the evidence
 *   word 2      notes     worker → main   how many notes were written; the last one is in buffer notes % 2
 *   word 3, 4   noteSize  worker → main   bytes of the note in each buffer
 *   byte 24     progress  worker → main   float64, NaN: none
 *   byte 32     note      worker → main   two buffers of UTF-8: while one is written the other can be read
 */
const notesStart = 32
export const noteBytesMax = 240
const slotBytes: number = notesStart + 2 * noteBytesMax

export const abortReasons = ['', 'cancelled', 'lease lost', 'replica draining'] as const
export type AbortReason = Exclude<(typeof abortReasons)[number], ''>

export interface PulseSlot {
  readonly words: Int32Array
  readonly progress: Float64Array
  readonly notes: readonly [Uint8Array, Uint8Array]
}

export const word = { abort: 0, beats: 1, notes: 2, noteSize: 3 } as const

export function pulseMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * slotBytes)
}

export function pulseSlot(memory: SharedArrayBuffer, index: number): PulseSlot {
  const start = index * slotBytes
  const note = (which: 0 | 1) => new Uint8Array(memory, start + notesStart + which * noteBytesMax, noteBytesMax)
  return {
    words: new Int32Array(memory, start, 6),
    progress: new Float64Array(memory, start + 24, 1),
    notes: [note(0), note(1)],
  }
}
