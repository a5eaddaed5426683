/** The timer of a worker thread, on a virtual clock: its rounds are counted, not timed. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ownClocks } from '../src/protocol/own-clocks.ts'
import { createSlotMemory, slotMemoryAt, word } from '../src/protocol/slot-layout.ts'
import { createThreadSlot } from '../src/thread/run-slot.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(ownClocks, 'setInterval').mockImplementation(setInterval)
  vi.spyOn(ownClocks, 'clearInterval').mockImplementation(clearInterval)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function openThread() {
  const memory = createSlotMemory(1)
  const { words } = slotMemoryAt(memory, 0)
  const thread = createThreadSlot(memory, 0)
  onTestFinished(() => thread[Symbol.dispose]())
  return { thread, ticks: () => Atomics.load(words, word.ticks) }
}

test('an idle thread has no timer, before its first run and after its last', () => {
  const { thread } = openThread()
  expect(vi.getTimerCount()).toBe(0)
  const run = thread.begin({ seq: 1, fenced: false })
  expect(vi.getTimerCount()).toBe(1)
  run[Symbol.dispose]()
  vi.advanceTimersByTime(500)
  expect(vi.getTimerCount()).toBe(0)
})

test('a run ticks twice a second while its thread is free, and so does each run after a pause', () => {
  const { thread, ticks } = openThread()
  for (const seq of [1, 2]) {
    const before = ticks()
    const run = thread.begin({ seq, fenced: false })
    vi.advanceTimersByTime(10_000)
    expect(ticks() - before).toBe(20)
    run[Symbol.dispose]()
    vi.advanceTimersByTime(10_000)
    expect(ticks() - before).toBe(20)
  }
})

test('runs that follow each other share one timer', () => {
  const { thread, ticks } = openThread()
  for (let seq = 1; seq <= 10; seq++) {
    thread.begin({ seq, fenced: false })[Symbol.dispose]()
    using run = thread.begin({ seq: seq + 100, fenced: false })
    expect(run.stopReason()).toBeUndefined()
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(500)
  }
  expect(ticks()).toBe(10)
})
