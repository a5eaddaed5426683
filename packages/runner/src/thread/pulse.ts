/**
 * The worker's side of the pulse: signs of life out, abort in.
 *
 * A timer beats while the thread is free, for code that awaits; code that is busy calls heartbeat(). The abort flag is
 * seen by heartbeat() in a busy loop, and as an AbortSignal by code that awaits.
 */
import { threadId } from 'node:worker_threads'
import { RunAborted } from '@q/task'
import { abortReasons, noteBytesMax, pulseSlot, word, writeNote, type PulseSlot } from '../pulse-layout.ts'

export interface WorkerPulse extends Disposable {
  readonly signal: AbortSignal
  heartbeat(progress?: number, note?: string): void
  aborted(): boolean
}

const idleBeatMs = 500

export function openPulse(memory: SharedArrayBuffer, index: number): WorkerPulse {
  const slot = pulseSlot(memory, index)
  const controller = new AbortController()
  Atomics.store(slot.words, word.threadId, threadId)
  const beat = () => void Atomics.add(slot.words, word.beats, 1)
  const reason = () => abortReasons[Atomics.load(slot.words, word.abort)] ?? ''
  const timer = setInterval(beat, idleBeatMs)
  timer.unref()
  abortWhenTold(slot, controller, reason)
  return {
    signal: controller.signal,
    aborted: () => reason() !== '',
    heartbeat(progress, note) {
      if (progress !== undefined) slot.progress[0] = Math.min(1, Math.max(0, progress))
      if (note !== undefined) writeNote(slot, encoded(note))
      beat()
      if (reason() !== '') throw new RunAborted(`This run was stopped: ${reason()}.`)
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      Atomics.notify(slot.words, word.abort) // ends the wait below
    },
  }
}

function abortWhenTold(slot: PulseSlot, controller: AbortController, reason: () => string): void {
  const wait = Atomics.waitAsync(slot.words, word.abort, 0)
  const told = () => {
    if (reason() !== '') controller.abort(new RunAborted(`This run was stopped: ${reason()}.`))
  }
  if (wait.async) void wait.value.then(told)
  else told()
}

function encoded(note: string): Uint8Array {
  const bytes = new Uint8Array(noteBytesMax)
  return bytes.subarray(0, new TextEncoder().encodeInto(note, bytes).written)
}
