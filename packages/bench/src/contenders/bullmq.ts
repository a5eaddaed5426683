/** BullMQ on its PostgreSQL backend. */
import { executeJob, type Job } from '../jobs/job.ts'
import { expectCount, type Contender, type Settings } from './contender.ts'

const name = 'job'
const concurrencies = (values: readonly number[]) =>
  Object.fromEntries(values.map((concurrency) => [`concurrency ${concurrency}`, { concurrency }]))

export const bullmqPostgres: Contender = {
  name: 'BullMQ on PostgreSQL',
  package: 'bullmq',
  postgres: true,
  noOpShare: 0.1,
  variants: {
    'no-op': concurrencies([20, 100]),
    'cpu-2ms': concurrencies([2, 20]),
    'cpu-22ms': concurrencies([2]),
    idle: concurrencies([2]),
  },
  async install(url) {
    const queue = await open(url, true)
    await queue.close()
  },
  async produce(url) {
    const queue = await open(url)
    return {
      enqueue: (job) => queue.add(name, job),
      enqueueMany: (jobs) => queue.addBulk(jobs.map((data) => ({ name, data }))),
      isDrained: async () => (await queue.getJobCountByTypes('wait', 'active', 'delayed', 'prioritized')) === 0,
      check: async (count) => expectCount('jobs that BullMQ completed', await queue.getCompletedCount(), count),
      close: () => queue.close(),
    }
  },
  async serve(url: string, { concurrency = 1 }: Settings) {
    const { Worker, createPostgresBackend } = await import('bullmq')
    const worker = new Worker(
      name,
      async ({ data }) => executeJob(data as Job),
      { connection: url, concurrency },
      createPostgresBackend,
    )
    worker.on('error', (error) => console.error(error))
    await worker.waitUntilReady()
    return { stop: () => worker.close() }
  },
}

async function open(url: string, migrate = false) {
  const bullmq = await import('bullmq')
  const connection = { connectionString: url, max: 20, migrate }
  const queue = new bullmq.Queue(name, { connection }, bullmq.createPostgresBackend)
  queue.on('error', (error) => console.error(error))
  await queue.waitUntilReady()
  return queue
}
