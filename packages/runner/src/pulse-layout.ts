/**
 * The shared memory through which a worker that is too busy for messages still speaks, and is spoken to.
 * One slot per run in execution; both sides import this file and nothing else of each other.
 *
 *   word 0  abort     main → worker   0 go on, else a reason (abortReasons)
 *   word 1  beats     worker → main   raised by every sign of life; a change is the evidence
 *   word 2  noteSize  worker → main   bytes of the note; -1 while it is being written
 *   byte 16 progress  worker → main   float64, NaN: none
 *   byte 24 note      worker → main   UTF-8
 */
export const slotBytes = 256
export const noteBytesMax: number = slotBytes - 24

export const abortReasons = ['', 'cancelled', 'lease lost', 'replica draining'] as const
export type AbortReason = Exclude<(typeof abortReasons)[number], ''>

export interface PulseSlot {
  readonly words: Int32Array
  readonly progress: Float64Array
  readonly note: Uint8Array
}

export const word = { abort: 0, beats: 1, noteSize: 2 } as const

export function pulseMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * slotBytes)
}

export function pulseSlot(memory: SharedArrayBuffer, index: number): PulseSlot {
  const start = index * slotBytes
  return {
    words: new Int32Array(memory, start, 4),
    progress: new Float64Array(memory, start + 16, 1),
    note: new Uint8Array(memory, start + 24, noteBytesMax),
  }
}
