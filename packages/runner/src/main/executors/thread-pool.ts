/**
 * The worker threads. The only file that knows Piscina, which starts, replaces and terminates them.
 *
 * When the pool closes or the process exits, it kills the programs that runs have started: a thread may wait for one in
 * `execFileSync`. After SIGKILL of the process they keep running.
 */
import { Piscina } from 'piscina'
import type { Description, RunReport, ThreadJob, WorkerSetup } from '../../protocol/messages.ts'
import type { Usage } from '../liveness/run-evidence.ts'
import type { ExecuteOptions, Executor } from './executor.ts'
import type { HandedRun, Receiver } from './handed-runs.ts'
import { endPrograms } from './process-tree.ts'
import { crashReport, createServedThread, type ThreadJobs } from './served-thread.ts'
import type { ThreadFeed } from './thread-feed.ts'

export interface ThreadPool extends Executor {
  /** Loads the task modules; rejects if their thread dies. Then the threads accept runs. */
  describe(): Promise<Description>
  /** One per thread. */
  readonly feeds: readonly ThreadFeed[]
  /** Terminates the thread of an executing run. The feed answers after the thread has exited. */
  terminate(handed: HandedRun, slot: number): void
  measure(slot: number): Usage | undefined
}

export interface ThreadOptions {
  readonly threads: number
  /** Heap limit of each thread; null: Node's default. Exceeding it usually ends the whole process. */
  readonly memoryLimitMb: number | null
}

export function startThreads(options: ThreadOptions, setup: WorkerSetup): ThreadPool {
  const pool = startPiscina(options, setup)
  const jobs: ThreadJobs = {
    run: (job, { transferList, signal }) => pool.run(job, { transferList, signal }),
    find: (threadId) => pool.threads.find((thread) => thread.threadId === threadId),
  }
  const threads = Array.from({ length: options.threads }, (_, slot) => createServedThread(slot, jobs))
  let closing = false
  let serving: Promise<unknown> | undefined
  const serveAll = () => void (serving ??= Promise.all(threads.map((thread) => thread.serve(() => closing))))
  const startedPrograms = () => threads.flatMap((thread) => thread.startedPrograms())
  const endAll = () => endPrograms(startedPrograms())
  process.on('exit', endAll)

  return {
    feeds: threads.map(({ feed }) => feed),
    terminate: (handed, slot) => threads[slot]?.terminate(handed),
    measure: (slot) => threads[slot]?.measure(),
    async describe() {
      const description = await pool.run({ kind: 'describe' })
      serveAll()
      return description
    },
    run(command, executeOptions) {
      serveAll()
      const { slot } = executeOptions.monitor
      const thread = threads[slot]
      if (thread === undefined) throw new Error(`Slot ${slot} has no thread.`)
      const { promise, resolve } = Promise.withResolvers<RunReport>()
      const handed = { command, receiver: receiverOf(thread.feed, executeOptions, resolve) }
      executeOptions.terminate.addEventListener('abort', () => thread.terminate(handed))
      thread.feed.handOver([handed])
      return { report: promise, measure: thread.measure }
    },
    async close() {
      closing = true
      const before = startedPrograms()
      const destroyed = pool.destroy()
      // Threads first: the code of a thread that waits for a program must not continue.
      endPrograms([...before, ...startedPrograms()])
      await destroyed
      await serving
      process.off('exit', endAll)
    },
  }
}

function startPiscina({ threads, memoryLimitMb }: ThreadOptions, setup: WorkerSetup): Piscina<ThreadJob, Description> {
  const pool = new Piscina<ThreadJob, Description>({
    filename: import.meta.resolve('@q/runner/thread'),
    workerData: setup,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    maxQueue: threads + 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default stops a thread's timers and sockets between runs.
    atomics: 'disabled',
    recordTiming: false,
    ...(memoryLimitMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } }),
  })
  pool.on('error', () => {}) // a thread died before it was served
  return pool
}

const sendsMax = 3

/** The receiver of a run with a slot for itself: if the thread dies before the run begins, the next thread gets it. */
function receiverOf(feed: ThreadFeed, { onMessage }: ExecuteOptions, resolve: (report: RunReport) => void): Receiver {
  let sends = 1
  return {
    ended: (_, report) =>
      resolve(typeof report === 'string' ? { ended: 'returned', result: report, repaired: [] } : report),
    returned(handed, why) {
      if (why === 'declined') resolve({ ended: 'aborted', reason: 'cut off from the database' })
      else if (sends++ < sendsMax) feed.handOver([handed])
      else resolve(crashReport(new Error('no thread could begin it')))
    },
    onMessage: (_, message, reply) => onMessage(message, reply),
  }
}
