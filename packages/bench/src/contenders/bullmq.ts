/** BullMQ, with its PostgreSQL backend and with Redis. */
import { executeJob, type Job } from '../jobs/job.ts'
import { expectCount, type Contender } from './contender.ts'
import { redisServer, startRedis } from './redis.ts'

const name = 'job'
const connectionsMax = 20
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
    const queue = await openQueue(url, true)
    await queue.close()
  },
  produce: (url) => produce(url),
  serve: (url, { concurrency = 1 }) => serve(url, concurrency),
}

/** Redis writes each job to disk before it acknowledges the job, like the other contenders. */
export const bullmqRedis: Contender = {
  ...bullmqPostgres,
  name: 'BullMQ on Redis, AOF always',
  postgres: false,
  noOpShare: 0.4,
  absent: () => (redisServer() === undefined ? 'redis-server is not installed' : undefined),
  startBackend: startRedis,
  install: async () => {},
}

async function produce(url: string) {
  const queue = await openQueue(url)
  return {
    enqueue: (job: Job) => queue.add(name, job),
    enqueueMany: (jobs: readonly Job[]) => queue.addBulk(jobs.map((data) => ({ name, data }))),
    isDrained: async () => (await queue.getJobCountByTypes('wait', 'active', 'delayed', 'prioritized')) === 0,
    check: async (count: number) => expectCount('jobs that BullMQ completed', await queue.getCompletedCount(), count),
    close: () => queue.close(),
  }
}

async function serve(url: string, concurrency: number) {
  const { Worker, createPostgresBackend } = await import('bullmq')
  const execute = async ({ data }: { data: Job }) => executeJob(data)
  const worker = isRedis(url)
    ? new Worker(name, execute, { connection: redisConnection(url), concurrency })
    : new Worker(name, execute, { connection: url, concurrency }, createPostgresBackend)
  worker.on('error', (error) => console.error(error))
  await worker.waitUntilReady()
  return { stop: () => worker.close() }
}

async function openQueue(url: string, migrate = false) {
  const { Queue, createPostgresBackend } = await import('bullmq')
  const connection = { connectionString: url, max: connectionsMax, migrate }
  const queue = isRedis(url)
    ? new Queue(name, { connection: redisConnection(url) })
    : new Queue(name, { connection }, createPostgresBackend)
  queue.on('error', (error) => console.error(error))
  await queue.waitUntilReady()
  return queue
}

function isRedis(url: string): boolean {
  return url.startsWith('redis:')
}

function redisConnection(url: string) {
  const { hostname: host, port } = new URL(url)
  return { host, port: Number(port), maxRetriesPerRequest: null }
}
