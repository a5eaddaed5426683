import { expect, onTestFinished, test } from 'vitest'
import {
  createSlotMemory,
  slotMemoryAt,
  readNote,
  stopReasonOf,
  stopRun,
  word,
  writeNote,
} from '../src/protocol/slot-layout.ts'
import { createThreadSlot } from '../src/thread/run-slot.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (note: Uint8Array | undefined) => (note === undefined ? undefined : new TextDecoder().decode(note))

test('the last note is the one that is read; before the first there is none', () => {
  const slot = slotMemoryAt(createSlotMemory(1), 0)
  expect(readNote(slot)).toBeUndefined()
  for (const note of ['one', 'second', '3']) writeNote(slot, bytes(note))
  expect(text(readNote(slot))).toBe('3')
})

test('a note that is being read is not overwritten, however many are written in the meantime', () => {
  const slot = slotMemoryAt(createSlotMemory(1), 0)
  writeNote(slot, bytes('being read'))
  const buffer = Atomics.load(slot.words, word.lastNote)
  Atomics.store(slot.words, word.reading, buffer)
  for (let count = 0; count < 10; count++) writeNote(slot, bytes(`note ${count}`))
  expect(text(slot.notes[buffer - 1]?.slice(0, 10))).toBe('being read')
  expect(text(readNote(slot))).toBe('note 9')
})

test('slots do not touch each other', () => {
  const memory = createSlotMemory(2)
  const [first, second] = [slotMemoryAt(memory, 0), slotMemoryAt(memory, 1)]
  writeNote(first, new Uint8Array(240).fill(120))
  first.progress[0] = 0.5
  expect(readNote(second)).toBeUndefined()
  expect(second.progress[0]).toBe(0)
  expect([...second.words]).toEqual(Array.from(second.words, () => 0))
})

test('a stop applies only to the run it names', () => {
  const slot = slotMemoryAt(createSlotMemory(1), 0)
  stopRun(slot, 2, 'cancelled')
  expect([1, 2, 3].map((seq) => stopReasonOf(slot, seq))).toEqual([undefined, 'cancelled', undefined])
})

test('the first reason to stop a run counts', () => {
  const slot = slotMemoryAt(createSlotMemory(1), 0)
  stopRun(slot, 1, 'timed out')
  stopRun(slot, 1, 'cancelled')
  expect(stopReasonOf(slot, 1)).toBe('timed out')
})

test('a stop of long ago neither stops a run whose number wrapped around nor prevents its stop', () => {
  const memory = createSlotMemory(1)
  const slot = slotMemoryAt(memory, 0)
  const thread = createThreadSlot(memory, 0)
  onTestFinished(() => thread[Symbol.dispose]())
  thread.begin({ seq: 5, fenced: false })
  stopRun(slot, 5, 'cancelled')
  thread.begin({ seq: 6, fenced: false })
  stopRun(slot, 2 ** 26 + 6, 'timed out')
  expect(stopReasonOf(slot, 2 ** 26 + 6)).toBe('timed out')
  thread.begin({ seq: 2 ** 26 + 7, fenced: false })
  const run = thread.begin({ seq: 2 ** 27 + 2 ** 26 + 6, fenced: false })
  expect(run.stopReason()).toBeUndefined()
})

test('a stop that is requested before its run begins reaches the run', () => {
  const memory = createSlotMemory(1)
  const thread = createThreadSlot(memory, 0)
  onTestFinished(() => thread[Symbol.dispose]())
  stopRun(slotMemoryAt(memory, 0), 2, 'cancelled')
  thread.begin({ seq: 1, fenced: false })
  expect(thread.begin({ seq: 2, fenced: false }).stopReason()).toBe('cancelled')
})

test.each([1, 2 ** 27 - 2])(
  'a late stop of an earlier run does not replace the stop of the current run: run %d',
  (seq) => {
    const slot = slotMemoryAt(createSlotMemory(1), 0)
    stopRun(slot, seq, 'timed out')
    stopRun(slot, seq + 3, 'cancelled')
    stopRun(slot, seq + 1, 'lease lost')
    expect(stopReasonOf(slot, seq + 3)).toBe('cancelled')
    expect(stopReasonOf(slot, seq + 1)).toBeUndefined()
  },
)
