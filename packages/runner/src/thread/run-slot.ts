/**
 * The worker's side of a slot of the shared memory: signs of life out, stop requests in.
 *
 * A thread has one timer and one wait for all its runs. The timer ticks during a run while the thread is free, for code that awaits;
 * busy code calls heartbeat(). A busy loop sees a stop request in heartbeat(), and code that awaits sees it as an
 * AbortSignal. The slot records that the code has seen it: then it has time to clean up. A run that other replicas may
 * start (`fenced`) also stops when the deadline in shared memory has passed: then the main thread hangs, or is cut off
 * from the database.
 *
 * Invariant: a run that has ended does not touch the slot. Code may continue after the end of its run, and
 * the slot has the next one.
 */
import { RunAborted } from '@q/task'
import { ownClocks } from '../protocol/own-clocks.ts'
import {
  clearProgress,
  dropEarlierStop,
  encodedNote,
  isPastFenceDeadline,
  slotMemoryAt,
  sharedClockMs,
  stopReasonOf,
  stopRun,
  tagOf,
  word,
  writeNote,
  type AbortReason,
  type SlotMemory,
} from '../protocol/slot-layout.ts'

export interface RunSlot extends Disposable {
  readonly signal: AbortSignal
  /** Usable without its object. */
  readonly heartbeat: (progress?: number, note?: string) => void
  /** An explicit sign of life other than a heartbeat. */
  sign(): void
  /** Why a stop was requested; undefined: none was. */
  stopReason(): AbortReason | undefined
}

export interface SlotCommand {
  /** The number of the run in its slot. */
  readonly seq: number
  readonly fenced: boolean
}

export interface ThreadSlot extends Disposable {
  /** The run begins. */
  begin(command: SlotCommand): RunSlot
}

const tickMs = 500

export function createThreadSlot(memory: SharedArrayBuffer, index: number): ThreadSlot {
  const slot = slotMemoryAt(memory, index)
  const { words } = slot
  let current: SharedRunSlot | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  waitForStop()
  return {
    begin(command) {
      current = new SharedRunSlot(slot, command)
      timer ??= ownClocks.setInterval(tick, tickMs).unref()
      return current
    },
    [Symbol.dispose]() {
      closed = true
      stopTicking()
      Atomics.notify(words, word.stop) // ends the wait below
    },
  }

  /** The timer stops when it finds no run, so an idle thread is never woken; under load it continues from run to run. */
  function tick(): void {
    if (current === undefined || current.hasEnded) stopTicking()
    else current.tick()
  }

  function stopTicking(): void {
    ownClocks.clearInterval(timer)
    timer = undefined
  }

  /** Waits for stop requests. It may also wake without one, when another wait at this slot is woken. */
  function waitForStop(): void {
    if (closed) return
    const seen = Atomics.load(words, word.stop)
    current?.forwardStop()
    const wait = Atomics.waitAsync(words, word.stop, seen)
    if (wait.async) void wait.value.then(waitForStop)
    else ownClocks.queueMicrotask(waitForStop)
  }
}

/** The slot of one run that does not share its thread with later ones. */
export function openRunSlot(memory: SharedArrayBuffer, index: number, command: SlotCommand): RunSlot {
  const thread = createThreadSlot(memory, index)
  const run = thread.begin(command)
  return {
    get signal() {
      return run.signal
    },
    heartbeat: run.heartbeat,
    sign: () => run.sign(),
    stopReason: () => run.stopReason(),
    [Symbol.dispose]() {
      run[Symbol.dispose]()
      thread[Symbol.dispose]()
    },
  }
}

/** Creates members on first use: most runs end without a signal and without a heartbeat. */
class SharedRunSlot implements RunSlot {
  readonly #slot: SlotMemory
  readonly #command: SlotCommand
  #closed = false
  #controller: AbortController | undefined
  #heartbeat: RunSlot['heartbeat'] | undefined

  constructor(slot: SlotMemory, command: SlotCommand) {
    this.#slot = slot
    this.#command = command
    clearProgress(slot)
    dropEarlierStop(slot, command.seq)
    slot.beganAt[0] = sharedClockMs()
    Atomics.store(slot.words, word.begun, tagOf(command.seq))
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.forwardStop()
    }
    return this.#controller.signal
  }

  get heartbeat(): RunSlot['heartbeat'] {
    this.#heartbeat ??= (progress, note) => this.#beat(progress, note)
    return this.#heartbeat
  }

  sign(): void {
    if (!this.#closed) Atomics.add(this.#slot.words, word.signs, 1)
  }

  stopReason(): AbortReason | undefined {
    return stopReasonOf(this.#slot, this.#command.seq)
  }

  get hasEnded(): boolean {
    return this.#closed
  }

  /** A sign that the thread lives. */
  tick(): void {
    Atomics.add(this.#slot.words, word.ticks, 1)
    this.#stopPastDeadline()
  }

  /** Passes a stop request on to code that awaits. */
  forwardStop(): void {
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
    const reason = stopReasonOf(slot, this.#command.seq)
    if (reason !== undefined) throw this.#stopped(reason)
  }

  #stopPastDeadline(): void {
    const { fenced, seq } = this.#command
    if (fenced && isPastFenceDeadline(this.#slot)) stopRun(this.#slot, seq, 'cut off from the database')
  }

  #stopped(reason: AbortReason): RunAborted {
    Atomics.store(this.#slot.words, word.noticed, tagOf(this.#command.seq))
    return new RunAborted(`This run was stopped: ${reason}.`)
  }
}
