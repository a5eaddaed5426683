/**
 * The worker's side of the pulse slot: signs of life out, stop requests in.
 *
 * One timer and one wait per thread, whatever number of runs it executes. The timer ticks while the thread is free, for
 * code that awaits; code that is busy calls heartbeat(). A stop request is seen by heartbeat() in a busy loop, and as an
 * AbortSignal by code that awaits. That the code has seen it is shown too: then it has time to clean up. A run that other
 * replicas may start (`fenced`) also stops when the deadline in shared memory has passed: then the main thread hangs, or
 * is cut off from the database.
 *
 * Invariant: the pulse of a run that has ended does not touch the slot. Code may continue after the end of its run, and
 * the slot has the next one.
 */
import { RunAborted } from '@q/task'
import {
  clearNews,
  encodedNote,
  isPastFenceDeadline,
  pulseSlot,
  sharedClockMs,
  stopReasonOf,
  stopRun,
  tagOf,
  word,
  writeNote,
  type AbortReason,
  type PulseSlot,
} from '../pulse-layout.ts'

export interface WorkerPulse extends Disposable {
  readonly signal: AbortSignal
  /** Usable without its object. */
  readonly heartbeat: (progress?: number, note?: string) => void
  /** An explicit sign that is no heartbeat. */
  sign(): void
  /** Why a stop was requested; undefined: none was. */
  stopReason(): AbortReason | undefined
}

export interface PulseOrder {
  /** The number of the run in its slot. */
  readonly seq: number
  readonly fenced: boolean
}

export interface ThreadPulse extends Disposable {
  /** The run begins. */
  begin(order: PulseOrder): WorkerPulse
}

const tickMs = 500

export function createThreadPulse(memory: SharedArrayBuffer, index: number): ThreadPulse {
  const slot = pulseSlot(memory, index)
  const { words } = slot
  let current: RunPulse | undefined
  let closed = false
  const timer = setInterval(() => current?.tick(), tickMs)
  timer.unref()
  obey()
  return {
    begin(order) {
      current = new RunPulse(slot, order)
      return current
    },
    [Symbol.dispose]() {
      closed = true
      clearInterval(timer)
      Atomics.notify(words, word.stop) // ends the wait below
    },
  }

  /** Waits for stop requests; other waits at this slot may wake it for nothing. */
  function obey(): void {
    if (closed) return
    const seen = Atomics.load(words, word.stop)
    current?.obey()
    const wait = Atomics.waitAsync(words, word.stop, seen)
    if (wait.async) void wait.value.then(obey)
    else queueMicrotask(obey)
  }
}

/** The pulse of one run that does not share its thread with later ones. */
export function openPulse(memory: SharedArrayBuffer, index: number, order: PulseOrder): WorkerPulse {
  const thread = createThreadPulse(memory, index)
  const pulse = thread.begin(order)
  return {
    get signal() {
      return pulse.signal
    },
    heartbeat: pulse.heartbeat,
    sign: () => pulse.sign(),
    stopReason: () => pulse.stopReason(),
    [Symbol.dispose]() {
      pulse[Symbol.dispose]()
      thread[Symbol.dispose]()
    },
  }
}

/** What a run does not use is not made: most runs end without a signal and without a heartbeat. */
class RunPulse implements WorkerPulse {
  readonly #slot: PulseSlot
  readonly #order: PulseOrder
  #closed = false
  #controller: AbortController | undefined
  #heartbeat: WorkerPulse['heartbeat'] | undefined

  constructor(slot: PulseSlot, order: PulseOrder) {
    this.#slot = slot
    this.#order = order
    clearNews(slot)
    slot.beganAt[0] = sharedClockMs()
    Atomics.store(slot.words, word.begun, tagOf(order.seq))
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.obey()
    }
    return this.#controller.signal
  }

  get heartbeat(): WorkerPulse['heartbeat'] {
    this.#heartbeat ??= (progress, note) => this.#beat(progress, note)
    return this.#heartbeat
  }

  sign(): void {
    if (!this.#closed) Atomics.add(this.#slot.words, word.signs, 1)
  }

  stopReason(): AbortReason | undefined {
    return stopReasonOf(this.#slot, this.#order.seq)
  }

  /** A sign that the thread lives. */
  tick(): void {
    if (this.#closed) return
    Atomics.add(this.#slot.words, word.ticks, 1)
    this.#stopPastDeadline()
  }

  /** Passes a stop request on to code that awaits. */
  obey(): void {
    if (this.#closed || this.#controller === undefined || this.#controller.signal.aborted) return
    const reason = this.stopReason()
    if (reason !== undefined) this.#controller.abort(this.#stopped(reason))
  }

  [Symbol.dispose](): void {
    this.#closed = true
  }

  #beat(progress?: number, note?: string): void {
    if (this.#closed) throw new RunAborted('This run has ended.')
    const slot = this.#slot
    if (progress !== undefined) slot.progress[0] = Math.min(1, Math.max(0, progress))
    if (note !== undefined) writeNote(slot, encodedNote(note))
    Atomics.add(slot.words, word.signs, 1)
    this.#stopPastDeadline()
    const reason = stopReasonOf(slot, this.#order.seq)
    if (reason !== undefined) throw this.#stopped(reason)
  }

  #stopPastDeadline(): void {
    const { fenced, seq } = this.#order
    if (fenced && isPastFenceDeadline(this.#slot)) stopRun(this.#slot, seq, 'cut off from the database')
  }

  #stopped(reason: AbortReason): RunAborted {
    Atomics.store(this.#slot.words, word.noticed, tagOf(this.#order.seq))
    return new RunAborted(`This run was stopped: ${reason}.`)
  }
}
