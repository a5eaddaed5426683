/**
 * The worker threads. The only file that knows Piscina.
 * Slots decide how much is sent here, so its queue never holds more than what waits for a thread that is being replaced.
 */
import { Piscina } from 'piscina'
import type { Description, Order, RunOrder, RunReport, WorkerSetup } from '../protocol.ts'

export interface ThreadPool {
  describe(): Promise<Description>
  /** Aborting the signal terminates the thread; never throws. */
  run(order: RunOrder, terminate: AbortSignal): Promise<RunReport>
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
  return {
    describe: async () => (await pool.run({ kind: 'describe' })) as Description,
    async run(order, terminate) {
      try {
        return (await pool.run(order, { signal: terminate })) as RunReport
      } catch (error) {
        if (terminate.aborted) return { ended: 'aborted' }
        const message = error instanceof Error ? error.message : String(error)
        return { ended: 'failed', code: 'WORKER_CRASHED', detail: `The worker thread died: ${message}` }
      }
    },
    close: () => pool.destroy(),
  }
}
