/**
 * The worker's side of the pulse: signs of life out, abort in.
 *
 * A timer ticks while the thread is free, for code that awaits; code that is busy calls heartbeat(). The abort flag is
 * seen by heartbeat() in a busy loop, and as an AbortSignal by code that awaits. That the code has seen it is shown too:
 * then it is given time to clean up.
 */
import { threadId } from 'node:worker_threads'
import { RunAborted } from '@q/task'
import { abortReasons, encodedNote, pulseSlot, word, writeNote, type PulseSlot } from '../pulse-layout.ts'

export interface WorkerPulse extends Disposable {
  readonly signal: AbortSignal
  heartbeat(progress?: number, note?: string): void
  /** An explicit sign that is no heartbeat. */
  sign(): void
  aborted(): boolean
}

const tickMs = 500

/** `thread`: who executes the run; not 0, which is nobody. */
export function openPulse(memory: SharedArrayBuffer, index: number, thread: number = threadId): WorkerPulse {
  const slot = pulseSlot(memory, index)
  const { words } = slot
  const controller = new AbortController()
  Atomics.store(words, word.threadId, thread)
  const timer = setInterval(() => void Atomics.add(words, word.ticks, 1), tickMs)
  timer.unref()
  abortWhenTold(slot, controller)
  return {
    signal: controller.signal,
    aborted: () => Atomics.load(words, word.abort) !== 0,
    sign: () => void Atomics.add(words, word.signs, 1),
    heartbeat(progress, note) {
      if (progress !== undefined) slot.progress[0] = Math.min(1, Math.max(0, progress))
      if (note !== undefined) writeNote(slot, encodedNote(note))
      Atomics.add(words, word.signs, 1)
      if (Atomics.load(words, word.abort) !== 0) throw stopped(slot)
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      Atomics.notify(words, word.abort) // ends the wait below
    },
  }
}

function abortWhenTold(slot: PulseSlot, controller: AbortController): void {
  const wait = Atomics.waitAsync(slot.words, word.abort, 0)
  const told = () => {
    if (Atomics.load(slot.words, word.abort) !== 0) controller.abort(stopped(slot))
  }
  if (wait.async) void wait.value.then(told)
  else told()
}

function stopped({ words }: PulseSlot): RunAborted {
  Atomics.store(words, word.noticed, 1)
  return new RunAborted(`This run was stopped: ${abortReasons[Atomics.load(words, word.abort)]}.`)
}
