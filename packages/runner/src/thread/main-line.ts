/**
 * A thread's line to the main thread. What is said gets through also while the code is busy, and before the thread
 * ends. What is asked is answered when the code awaits it. It goes over `parentPort`, which the code can use too, and
 * cannot close: all runs of the thread share it.
 */
import { readlinkSync } from 'node:fs'
import { MessageChannel, parentPort, threadId } from 'node:worker_threads'
import { RequestRefused } from '@q/task'
import type { Answer, Ask, Hello, Said } from '../protocol.ts'

export interface MainLine {
  say(said: Said): void
  /** How much has been said of a run; it is forgotten then. */
  saidOf(key: string): number
  /** Rejects with RequestRefused. `key`: of the run that asks. */
  ask(key: string, ask: Ask): Promise<string>
}

export function openMainLine(): MainLine {
  const { port1, port2 } = new MessageChannel()
  const waiting = new Map<number, (answer: Answer) => void>()
  let asked = 0
  const hello: Hello = { kind: 'hello', threadId, osThreadId: osThreadId(), port: port2 }
  parentPort?.postMessage(hello, [port2])
  if (parentPort !== null) parentPort.close = () => {}
  port1.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer))
  port1.unref()
  const counts = new Map<string, number>()
  const say = (said: Said) => {
    counts.set(said.key, (counts.get(said.key) ?? 0) + 1)
    parentPort?.postMessage(said)
  }
  return {
    say,
    saidOf(key) {
      const count = counts.get(key) ?? 0
      counts.clear()
      return count
    },
    ask(key, ask) {
      const id = ++asked
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      waiting.set(id, (answer) => {
        waiting.delete(id)
        if (answer.ok) resolve(answer.value)
        else reject(new RequestRefused(answer.refusal))
      })
      say({ key, kind: 'ask', id, ask })
      return promise
    },
  }
}

/** By which the kernel knows this thread; Linux alone tells it. */
function osThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}
