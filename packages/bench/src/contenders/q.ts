/** q, as its users run it: `queue()` in the producer, the start entry of the runner as the worker process. */
import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { migrateDatabase } from '@q/store'
import { closeConnection, queryRows } from '../machine/database.ts'
import type { Job } from '../jobs/job.ts'
import { expectCount, type Contender, type Producer, type ProducerOptions } from './contender.ts'

const modules = fileURLToPath(import.meta.resolve(`../jobs/tasks${extname(import.meta.url)}`))
/** The default settings first. */
const windows = {
  default: {},
  'window 60 ms': { Q_START_AHEAD_MS: 60 },
  'window 60 ms, 500 ahead': { Q_START_AHEAD_MS: 60, Q_START_AHEAD_RETRY_MAX: 500 },
}

export const q: Contender = {
  name: 'q',
  package: null,
  postgres: true,
  variants: {
    'no-op': windows,
    'cpu-2ms': windows,
    'cpu-22ms': { default: {}, 'window 60 ms': { Q_START_AHEAD_MS: 60 } },
    idle: { default: {} },
  },
  install: async (url) => void (await migrateDatabase(url)),
  produce,
  async serve(url, settings) {
    const { start } = await import('@q/runner/start')
    const values = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
    // The runner handles the signals itself.
    void start({ ...process.env, DATABASE_URL: url, Q_TASKS: modules, Q_LOG_LEVEL: 'warn', ...values }).then((code) =>
      process.exit(code),
    )
    await untilRegistered(url)
    return { stop: async () => {} }
  },
}

const registeredPollMs = 20

/** Waits until the replica of this process is registered. */
async function untilRegistered(url: string): Promise<void> {
  const isRegistered = `SELECT FROM q.replica WHERE pid = ${process.pid} AND stopped_at IS NULL`
  while ((await queryRows(url, isRegistered)).length === 0) await sleep(registeredPollMs)
  await closeConnection(url)
}

async function produce(url: string, { onCrash = 'retry' }: ProducerOptions = {}): Promise<Producer> {
  const { queue } = await import('@q/client')
  const tasks = await import('../jobs/tasks.ts')
  const name = onCrash === 'retry' ? 'retriedJob' : 'failedJob'
  const producer = queue<typeof tasks>(url, { tasks })
  return {
    enqueue: (job) => producer.enqueue(name, job),
    enqueueMany: (jobs) => producer.enqueueMany(jobs.map((job: Job) => [name, job] as const)),
    async isDrained() {
      const [row] = await queryRows<{ drained: boolean }>(
        url,
        'SELECT NOT EXISTS (SELECT FROM q.task_run WHERE ready) AND NOT EXISTS (SELECT FROM q.task_run WHERE held) AS drained',
      )
      return row?.drained ?? false
    },
    async check(count) {
      const [row] = await queryRows<{ runs: number; right: number }>(
        url,
        `SELECT count(*)::int AS runs, (count(*) FILTER (WHERE status = 'SUCCEEDED' AND attempt = 1))::int AS right
         FROM q.task_run`,
      )
      expectCount('runs of q', row?.runs ?? 0, count)
      expectCount('runs of q that succeeded at their first attempt', row?.right ?? 0, count)
    },
    close: () => producer.close(),
  }
}
