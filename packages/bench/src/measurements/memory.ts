/** Measures the memory of a worker thread of q that has executed a trivial task. */
import { createMarks } from '../jobs/marks.ts'
import { memoryMb } from '../machine/processes.ts'
import { startWorkers } from '../machine/start-workers.ts'
import { qRetry } from './entrants.ts'
import type { Bench, Measurement } from './measurement.ts'

const blockMs = 400

export const memory: Measurement = {
  name: 'memory',
  title: 'Memory of q',
  method: `Proportional set size of a replica with one and with nine threads, after each thread has executed a trivial task that
imports \`@q/task\` alone; the difference is divided by the number of threads.`,
  entrants: [qRetry],
  figures: [
    { key: 'perThreadMb', title: 'per thread, MB', better: 'less' },
    { key: 'replicaMb', title: 'replica with one thread, MB', better: 'less' },
  ],
  async sample(bench) {
    const { manyThreads } = bench.sizes
    const few = await replicaMb(bench, 1)
    const many = await replicaMb(bench, manyThreads)
    return { perThreadMb: (many - few) / (manyThreads - 1), replicaMb: few }
  },
}

async function replicaMb(bench: Bench, threads: number): Promise<number> {
  const { contender } = qRetry
  await using database = await bench.server.database(contender)
  using marks = createMarks()
  const producer = await contender.produce(database.url)
  try {
    // Each job blocks its thread, so every thread executes at least one.
    const jobs = Array.from({ length: threads * 2 }, (_, number) => ({ number, iterations: 0, blockMs }))
    await producer.enqueueMany(jobs)
    const settings = { Q_THREADS: threads }
    const { url } = database
    await using workers = startWorkers({ contender, url, settings, processes: 1, marksPath: marks.path })
    await marks.reach(jobs.length, () => workers.mustLive())
    return memoryMb(workers.pids[0] ?? 0)
  } finally {
    await producer.close()
  }
}
