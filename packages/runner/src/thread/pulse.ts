/**
 * The worker's side of the pulse: signs of life out, abort in.
 *
 * A timer ticks while the thread is free, for code that awaits; code that is busy calls heartbeat(). The abort flag is
 * seen by heartbeat() in a busy loop, and as an AbortSignal by code that awaits. That the code has seen it is shown too:
 * then it has time to clean up. A run that others may start also stops when its deadline in shared memory has passed: then
 * the main thread hangs, or is cut off from the database.
 *
 * Law: a pulse that was closed touches its slot no more. Code may go on after the end of its run, and the slot has the
 * next one.
 */
import { threadId } from 'node:worker_threads'
import { RunAborted } from '@q/task'
import {
  encodedNote,
  isPastFenceDeadline,
  pulseSlot,
  stopReasonOf,
  stopSlot,
  word,
  writeNote,
  type AbortReason,
  type PulseSlot,
} from '../pulse-layout.ts'

export interface WorkerPulse extends Disposable {
  readonly signal: AbortSignal
  heartbeat(progress?: number, note?: string): void
  /** An explicit sign that is no heartbeat. */
  sign(): void
  /** Why a stop was requested; undefined: none was. */
  stopReason(): AbortReason | undefined
}

const tickMs = 500

/** `thread`: who executes the run; not 0, which is nobody. */
export function openPulse(memory: SharedArrayBuffer, index: number, thread: number = threadId): WorkerPulse {
  const slot = pulseSlot(memory, index)
  const { words } = slot
  const controller = new AbortController()
  let closed = false
  Atomics.store(words, word.threadId, thread)
  const timer = setInterval(tick, tickMs)
  timer.unref()
  obey()
  return {
    signal: controller.signal,
    stopReason: () => stopReasonOf(slot),
    sign: () => void (closed || Atomics.add(words, word.signs, 1)),
    heartbeat(progress, note) {
      if (closed) throw new RunAborted('This run has ended.')
      if (progress !== undefined) slot.progress[0] = Math.min(1, Math.max(0, progress))
      if (note !== undefined) writeNote(slot, encodedNote(note))
      Atomics.add(words, word.signs, 1)
      if (isPastFenceDeadline(slot)) stopSlot(slot, 'cut off from the database')
      if (Atomics.load(words, word.abort) !== 0) throw stopped(slot)
    },
    [Symbol.dispose]() {
      closed = true
      clearInterval(timer)
      Atomics.notify(words, word.abort) // ends the wait below
    },
  }

  function tick(): void {
    Atomics.add(words, word.ticks, 1)
    if (isPastFenceDeadline(slot)) stopSlot(slot, 'cut off from the database')
  }

  /** Waits to be told to stop; others who wait at this slot may wake it for nothing. */
  function obey(): void {
    if (closed) return
    const wait = Atomics.waitAsync(words, word.abort, 0)
    if (wait.async) void wait.value.then(obey)
    else controller.abort(stopped(slot))
  }
}

function stopped(slot: PulseSlot): RunAborted {
  Atomics.store(slot.words, word.noticed, 1)
  return new RunAborted(`This run was stopped: ${stopReasonOf(slot)}.`)
}
