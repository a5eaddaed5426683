/**
 * The worker threads. The only file that knows Piscina.
 *
 * Slots decide how much is sent here, so its queue never holds more than what waits for a thread that is being replaced.
 * Piscina reports an aborted task before its thread has exited; here it is reported only when the thread is really
 * gone, because until then the code may still act. A thread that dies idle costs nothing: the pool replaces it, and what was
 * on its way there is sent again.
 *
 * The pool ends the programs that runs have started (a thread may wait for one in `execFileSync`) when it closes and when
 * the process exits, unless the process is killed.
 */
import type { MessagePort, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { orderKey } from '../protocol.ts'
import type { Description, Hello, Order, Reported, RunOrder, RunReport, Said, WorkerSetup } from '../protocol.ts'
import { pause } from './loop.ts'
import { endPrograms, startedByThread } from './process-tree.ts'
import type { Pulse } from './pulse-board.ts'
import { createThreadMeter, type ThreadMeter } from './thread-meter.ts'
import type { Workplace } from './workplace.ts'

export interface ThreadPool extends Workplace {
  /** Rejects when the thread that loads the task modules dies of it. */
  describe(): Promise<Description>
}

export interface ThreadOptions {
  readonly threads: number
  /** Heap of each thread; null: what Node allows. Most ways to exceed it end the whole process. */
  readonly memoryLimitMb: number | null
}

export function startThreads({ threads, memoryLimitMb }: ThreadOptions, setup: WorkerSetup): ThreadPool {
  const pool = new Piscina<Order, Description | Reported>({
    filename: import.meta.resolve('@q/runner/thread'),
    workerData: setup,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    maxQueue: threads + 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default stops a thread's timers and sockets between runs.
    atomics: 'disabled',
    ...(memoryLimitMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } }),
  })
  const met = new Map<
    number,
    { readonly meter: ThreadMeter; readonly port: MessagePort; readonly osThreadId: number }
  >()
  let closing = false
  const listeners = new Map<string, (said: Said) => void>()
  const workerOf = (threadId: number): Worker | undefined => pool.threads.find((worker) => worker.threadId === threadId)
  pool.on('error', () => {}) // a thread that died idle
  pool.on('message', (message: Hello | Said | null) => {
    if (typeof message !== 'object' || message === null) return // task code may use its parentPort, too
    if (message.kind === 'hello') meet(message)
    else listeners.get(message.key)?.(message)
  })

  function meet({ threadId, osThreadId, port }: Hello): void {
    const worker = workerOf(threadId)
    if (worker === undefined) return
    met.set(threadId, { port, osThreadId, meter: createThreadMeter(worker, osThreadId) })
    worker.once('exit', () => met.delete(threadId))
  }

  const startedPrograms = () => [...met.values()].flatMap(({ osThreadId }) => startedByThread(osThreadId))
  const endAll = () => endPrograms(startedPrograms())
  process.on('exit', endAll)

  /** A thread that dies with an order it has not taken yet has begun nothing: another one gets it. */
  async function sendUntilTaken(order: RunOrder, pulse: Pulse, terminate: AbortSignal): Promise<Reported> {
    for (let sends = 1; ; sends++) {
      try {
        return (await pool.run(order, { signal: terminate })) as Reported
      } catch (error) {
        if (closing || terminate.aborted || pulse.threadId() !== 0 || sends === sendsMax) throw error
      }
    }
  }

  return {
    describe: async () => (await pool.run({ kind: 'describe' })) as Description,
    run(order, { pulse, terminate, hear }) {
      const key = orderKey(order)
      const words = countWords()
      let lastWords: RunReport | undefined
      listeners.set(key, (said) => {
        // Later the slot may be another run's, on another thread, which counts its questions for itself.
        const port = met.get(pulse.threadId())?.port
        if (said.kind === 'last-words') lastWords = said.report
        else hear(said, (answer) => port?.postMessage(answer))
        words.heard()
      })
      let exited: Promise<void> = Promise.resolve()
      // Before Piscina's own listener: once it has ended the thread, the thread cannot be found any more.
      terminate.addEventListener('abort', () => {
        const worker = workerOf(pulse.threadId())
        if (worker !== undefined) exited = untilGone(worker)
      })
      const report = async (): Promise<RunReport> => {
        try {
          const { report: reported, said } = await sendUntilTaken(order, pulse, terminate)
          await words.until(said)
          return reported
        } catch (error) {
          await exited
          return terminate.aborted ? { ended: 'aborted' } : (lastWords ?? crashReport(error))
        } finally {
          listeners.delete(key)
        }
      }
      return { report: report(), measure: () => met.get(pulse.threadId())?.meter.measure() }
    },
    async close() {
      closing = true
      const before = startedPrograms()
      const destroyed = pool.destroy()
      // After the threads: the code of a thread that waited for a program must not continue.
      endPrograms([...before, ...startedPrograms()])
      await destroyed
      process.off('exit', endAll)
    },
  }
}

/** Never rejects: a thread that is being ended may run out of memory before it is gone. */
export function untilGone(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  return promise
}

/** A thread that cannot even begin is not tried for ever. */
const sendsMax = 3

/** For words that are on their way. Those of code that has taken away the port never come, and its run ends all the same. */
const wordsMsMax = 1_000

/** What a run said and its report come on two ways; nothing it said is to be lost because the report was faster. */
function countWords(): { heard(): void; until(said: number): Promise<void> } {
  let count = 0
  let check: () => void = () => {}
  return {
    heard() {
      count++
      check()
    },
    until(said) {
      if (count >= said) return Promise.resolve()
      const all = new AbortController()
      check = () => void (count >= said && all.abort())
      return pause(wordsMsMax, all.signal)
    },
  }
}

function crashReport(error: unknown): RunReport {
  const message = error instanceof Error ? error.message : String(error)
  const outOfMemory = error instanceof Error && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
  return outOfMemory
    ? { ended: 'crashed', code: 'OUT_OF_MEMORY', detail: `The worker thread ran out of memory: ${message}` }
    : { ended: 'crashed', code: 'WORKER_CRASHED', detail: `The worker thread died: ${message}` }
}
