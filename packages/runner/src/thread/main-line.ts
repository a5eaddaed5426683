/**
 * A thread's line to the main thread: the port over which it is served runs. What a run says, and the report that ends it,
 * go the same way, so they arrive in their order; they get through while the code is busy, and before the thread ends.
 * What is asked is answered when the code awaits it. Task code has no access to the port.
 */
import type { MessagePort } from 'node:worker_threads'
import { RequestRefused } from '@q/task'
import type { Answer, Ask, FromThread, SaidBody } from '../protocol.ts'

export interface MainLine {
  /** `seq`: the number of the run that speaks. */
  say(seq: number, body: SaidBody): void
  /** Rejects with RequestRefused. */
  ask(seq: number, ask: Ask): Promise<string>
}

export interface ThreadLine extends MainLine {
  send(message: FromThread): void
  /** Whether the run has said anything. */
  hasSaid(seq: number): boolean
  answered(answer: Answer): void
  /** The port of the thread's life; before, there is no run to speak. */
  connect(port: MessagePort): void
}

export function createThreadLine(): ThreadLine {
  const waiting = new Map<number, (answer: Answer) => void>()
  let port: MessagePort | undefined
  let asked = 0
  let lastSaid = 0
  const send = (message: FromThread) => port?.postMessage(message)
  const say: MainLine['say'] = (seq, body) => {
    lastSaid = Math.max(lastSaid, seq) // code of a run that has ended may still speak
    send({ ...body, seq })
  }
  return {
    send,
    say,
    hasSaid: (seq) => lastSaid === seq,
    connect: (given) => void (port = given),
    answered: (answer) => waiting.get(answer.id)?.(answer),
    ask(seq, ask) {
      const id = ++asked
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      waiting.set(id, (answer) => {
        waiting.delete(id)
        if (answer.ok) resolve(answer.value)
        else reject(new RequestRefused(answer.refusal))
      })
      say(seq, { kind: 'ask', id, ask })
      return promise
    },
  }
}
