/**
 * The worker threads. The only file that knows Piscina.
 *
 * Slots decide how much is sent here, so its queue never holds more than what waits for a thread that is being replaced.
 * Piscina reports an aborted task before its thread has exited; here it is reported only when the thread is really
 * gone, because until then the code may still act.
 */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Description, Order, RunOrder, RunReport, WorkerSetup } from '../protocol.ts'

export interface ThreadPool {
  /** Rejects when the thread that loads the task modules dies of it. */
  describe(): Promise<Description>
  /** Aborting `terminate` ends the thread. Resolves when the code cannot act any more; never throws. */
  run(order: RunOrder, terminate: AbortSignal, threadOf: () => number): Promise<RunReport>
  close(): Promise<void>
}

export function startThreads(threads: number, setup: WorkerSetup): ThreadPool {
  const pool = new Piscina<Order, Description | RunReport>({
    filename: import.meta.resolve('@q/runner/thread'),
    workerData: setup,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    maxQueue: threads + 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default stops a thread's timers and sockets between runs.
    atomics: 'disabled',
  })
  // A thread that dies idle is replaced by the pool.
  pool.on('error', () => {})
  const workerOf = (threadId: number): Worker | undefined => pool.threads.find((worker) => worker.threadId === threadId)
  return {
    describe: async () => (await pool.run({ kind: 'describe' })) as Description,
    async run(order, terminate, threadOf) {
      let exited: Promise<unknown> = Promise.resolve()
      // Before Piscina's own listener: once it has ended the thread, the thread cannot be found any more.
      terminate.addEventListener('abort', () => {
        const worker = workerOf(threadOf())
        if (worker !== undefined) exited = once(worker, 'exit')
      })
      try {
        return (await pool.run(order, { signal: terminate })) as RunReport
      } catch (error) {
        await exited
        if (terminate.aborted) return { ended: 'aborted' }
        const message = error instanceof Error ? error.message : String(error)
        return { ended: 'failed', code: 'WORKER_CRASHED', detail: `The worker thread died: ${message}` }
      }
    },
    close: () => pool.destroy(),
  }
}
