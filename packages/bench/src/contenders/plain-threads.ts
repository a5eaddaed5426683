/** Worker threads without a queue: an upper bound for any queue. */
import { availableParallelism } from 'node:os'
import { Worker, workerData } from 'node:worker_threads'
import { executeJob, type Job } from '../jobs/job.ts'
import type { Contender } from './contender.ts'

interface Plan {
  readonly count: number
  readonly job: Job
  /** Counts the threads that are ready: they begin together. */
  readonly up: Int32Array
  readonly threads: number
}

const once = { threads: {} }

export const plainThreads: Contender = {
  name: 'plain threads',
  package: null,
  postgres: false,
  extraMarks: availableParallelism(),
  variants: { 'no-op': once, 'cpu-2ms': once, 'cpu-22ms': once, idle: once },
  install: async () => {},
  produce: async () => ({
    enqueue: async () => {},
    enqueueMany: async () => {},
    isDrained: async () => true,
    check: async () => {},
    close: async () => {},
  }),
  async serve() {
    const { count, job } = JSON.parse(process.env['BENCH_PLAIN'] ?? 'null') as Pick<Plan, 'count' | 'job'>
    const threads = availableParallelism()
    const shares = Array.from({ length: threads }, (_, index) => Math.floor((count + index) / threads))
    const up = new Int32Array(new SharedArrayBuffer(4))
    const workers = shares.map(
      (share) => new Worker(import.meta.filename, { workerData: { count: share, job, up, threads } satisfies Plan }),
    )
    const idle = setInterval(() => {}, 1_000)
    return { stop: async () => (clearInterval(idle), Promise.all(workers.map((worker) => worker.terminate()))) }
  },
}

const plan = workerData as Plan | null
if (plan?.job !== undefined) {
  Atomics.add(plan.up, 0, 1)
  while (Atomics.load(plan.up, 0) < plan.threads);
  for (let done = 0; done < plan.count; done++) executeJob(plan.job)
  // An additional mark: this thread has ended its last job.
  executeJob({ number: -1, iterations: 0 })
}
