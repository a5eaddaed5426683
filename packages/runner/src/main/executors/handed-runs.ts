/**
 * The runs that were handed to one thread and have not been answered, by sequence number. Sequence numbers grow by one and
 * map to entries of the ring, so an entry becomes free only when all runs up to its last one have been answered.
 */
import { ringEntries } from '../../protocol/ring-layout.ts'
import type { ContextReply, RunCommand, RunReport, ThreadMessage } from '../../protocol/messages.ts'

/** A run that was handed over and has not been answered. */
export interface HandedRun {
  readonly command: RunCommand
  readonly receiver: Receiver
}

/** The caller that handed the run over. It receives the end of the run. */
export interface Receiver {
  /** `report`: a string is the JSON text of a plain result. */
  ended(handed: HandedRun, report: string | RunReport, tookMs: number): void
  /**
   * The run has not begun. `thread died`: its thread died or is being terminated; of several runs the last one is returned
   * first. `declined`: its thread did not begin it, because other replicas may start it by now.
   */
  returned(handed: HandedRun, why: 'thread died' | 'declined'): void
  onMessage(handed: HandedRun, message: ThreadMessage, reply: (answer: ContextReply) => void): void
}

export interface HandedRuns {
  load(): number
  /** How many more runs fit into the ring. */
  room(): number
  at(seq: number): HandedRun | undefined
  /** The runs without an answer, in order. */
  open(): Generator<HandedRun, undefined>
  add(one: HandedRun): void
  remove(seq: number): void
  /** Calls `answer` for each run in order, until it returns false. */
  answerInOrder(answer: (one: HandedRun) => boolean): void
  /** Returns all open runs, to be answered. Runs that are added later come after them. */
  takeOpen(): HandedRun[]
}

export function createHandedRuns(): HandedRuns {
  /** By entry of the ring. */
  const handed = Array.from<HandedRun | undefined>({ length: ringEntries })
  /** Sequence numbers of the oldest run that may be open, and of the latest one. */
  let oldest = 1
  let latest = 0
  let load = 0

  function at(seq: number): HandedRun | undefined {
    const found = handed[seq % ringEntries]
    return found?.command.seq === seq ? found : undefined
  }

  function* open(): Generator<HandedRun, undefined> {
    for (let seq = oldest; seq <= latest; seq++) {
      const found = at(seq)
      if (found !== undefined) yield found
    }
  }

  return {
    load: () => load,
    room: () => Math.max(0, Math.min(ringEntries - load, ringEntries - (latest - oldest + 1))),
    at,
    open,
    add(one) {
      const { seq } = one.command
      if (load === 0) oldest = seq
      latest = seq
      handed[seq % ringEntries] = one
      load++
    },
    remove(seq) {
      handed[seq % ringEntries] = undefined
      load--
    },
    answerInOrder(answer) {
      for (; oldest <= latest; oldest++) {
        const one = at(oldest)
        if (one !== undefined && !answer(one)) return
      }
    },
    takeOpen() {
      const runs = [...open()]
      oldest = latest + 1
      return runs
    },
  }
}
