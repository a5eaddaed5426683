/**
 * The thread of one slot. When the thread dies, its successor takes over the feed (thread-feed.ts). A thread serves one
 * long job of the pool, so that the caller can choose the thread and a run needs no job of its own.
 *
 * Piscina reports an aborted job before its thread has exited. The feed learns of it only after the exit, because the code
 * may still act until then.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { FromThread, RunReport, ServeJob } from '../../protocol/messages.ts'
import type { Usage } from '../liveness/run-evidence.ts'
import { pause } from '../loop.ts'
import type { HandedRun } from './handed-runs.ts'
import { startedByThread } from './process-tree.ts'
import { createThreadFeed, type OwnedFeed } from './thread-feed.ts'
import { createThreadMeter, type ThreadMeter } from './thread-meter.ts'

/** The parts of the pool that a served thread uses. */
export interface ThreadJobs {
  /** Rejects when the thread dies or the signal terminates it. */
  run(job: ServeJob, options: { readonly transferList: MessagePort[]; readonly signal: AbortSignal }): Promise<unknown>
  find(threadId: number): Worker | undefined
}

export interface ServedThread {
  readonly feed: OwnedFeed
  /** Serves one thread after the other until `isClosing` returns true. */
  serve(isClosing: () => boolean): Promise<void>
  /** Terminates the thread if the run is executing. The feed answers after the thread has exited. */
  terminate(handed: HandedRun): void
  measure(): Usage | undefined
  /** Process ids of the running programs that its runs have started. */
  startedPrograms(): number[]
}

/** One thread, from its handshake to its exit. */
interface Life {
  readonly gone: Promise<void>
  readonly osThreadId: number
  readonly meter: ThreadMeter
}

/** After this many threads in a row that died before the handshake, waiting runs fail. */
const livesMax = 3
const restMs = 200

export function createServedThread(slot: number, jobs: ThreadJobs): ServedThread {
  const feed = createThreadFeed(slot)
  let life: Life | undefined
  let ending = new AbortController()
  /** The run for which the thread is being terminated. */
  let terminated: HandedRun | undefined

  /** Serves one thread until it exits; returns the cause. */
  async function oneLife(port1: MessagePort, port2: MessagePort): Promise<RunReport> {
    ending = new AbortController()
    port1.on('message', (message: FromThread) => {
      if (message.kind === 'handshake') life = lifeOf(jobs, message)
      feed.onMessage(message)
    })
    port1.unref()
    const { memory: ring } = feed.open(port1)
    try {
      await jobs.run({ kind: 'serve', slot, ring, port: port2 }, { transferList: [port2], signal: ending.signal })
      return crashReport(new Error('it ended by itself'))
    } catch (error) {
      if (ending.signal.aborted && life !== undefined) await life.gone
      return crashReport(error)
    }
  }

  return {
    feed,
    async serve(isClosing) {
      let fruitless = 0
      while (!isClosing()) {
        const { port1, port2 } = new MessageChannel()
        const crash = await oneLife(port1, port2)
        fruitless = life === undefined ? fruitless + 1 : 0
        life = undefined
        if (fruitless >= livesMax) failWaiting(feed, crash)
        feed.closed(terminated === undefined ? crash : { ended: 'aborted' })
        port1.close()
        terminated = undefined
        if (fruitless > 0 && !isClosing()) await pause(restMs)
      }
    },
    terminate(handed) {
      if (!feed.makeLast(handed)) return
      terminated = handed
      ending.abort()
    },
    measure: () => life?.meter.measure(),
    startedPrograms: () => (life === undefined ? [] : startedByThread(life.osThreadId)),
  }
}

function lifeOf(
  jobs: ThreadJobs,
  { threadId, osThreadId }: Extract<FromThread, { kind: 'handshake' }>,
): Life | undefined {
  const worker = jobs.find(threadId)
  return worker && { gone: untilGone(worker), osThreadId, meter: createThreadMeter(worker, osThreadId) }
}

function failWaiting(feed: OwnedFeed, crash: RunReport): void {
  for (const handed of feed.waiting()) if (feed.withdraw(handed)) handed.receiver.ended(handed, crash, 0)
}

/** Resolves when the thread has exited. Never rejects: a thread may run out of memory while it is terminated. */
export function untilGone(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  return promise
}

export function crashReport(error: unknown): RunReport {
  const message = error instanceof Error ? error.message : String(error)
  const outOfMemory = error instanceof Error && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
  return outOfMemory
    ? { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: `The worker thread ran out of memory: ${message}` }
    : { ended: 'crashed', code: 'WORKER_CRASHED', detail: `The worker thread died: ${message}` }
}
