/**
 * A thread's channel to the main thread: the port over which it receives runs. The messages of a run and the report that
 * ends it use the same port, so they arrive in order; they get through while the code is busy, and before the thread ends.
 * The reply to a request arrives when the code awaits it. Task code has no access to the port.
 */
import type { MessagePort } from 'node:worker_threads'
import { RequestRefused } from '@q/task'
import type { ContextReply, ContextRequest, FromThread, ThreadMessageBody } from '../protocol/messages.ts'

export interface MainThreadChannel {
  /** `seq`: the number of the run that sends it. */
  send(seq: number, body: ThreadMessageBody): void
  /** Rejects with RequestRefused. */
  request(seq: number, request: ContextRequest): Promise<string>
}

export interface ThreadChannel extends MainThreadChannel {
  post(message: FromThread): void
  /** Whether the run has sent a message. */
  hasSent(seq: number): boolean
  onReply(reply: ContextReply): void
  /** The port for the life of the thread; before it there is no run. */
  connect(port: MessagePort): void
}

export function createThreadChannel(): ThreadChannel {
  const waiting = new Map<number, (reply: ContextReply) => void>()
  let port: MessagePort | undefined
  let requests = 0
  let lastSent = 0
  const post = (message: FromThread) => port?.postMessage(message)
  const send: MainThreadChannel['send'] = (seq, body) => {
    lastSent = Math.max(lastSent, seq) // code of a run that has ended may still send
    post({ ...body, seq })
  }
  return {
    post,
    send,
    hasSent: (seq) => lastSent === seq,
    connect: (given) => void (port = given),
    onReply: (reply) => waiting.get(reply.id)?.(reply),
    request(seq, request) {
      const id = ++requests
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      waiting.set(id, (reply) => {
        waiting.delete(id)
        if (reply.ok) resolve(reply.value)
        else reject(new RequestRefused(reply.refusal))
      })
      send(seq, { kind: 'request', id, request })
      return promise
    },
  }
}
