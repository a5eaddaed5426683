/** pg-boss with large batches, fetched without a pause while they are full, and with LISTEN. */
import type { PgBoss } from 'pg-boss'
import { queryRows } from '../machine/database.ts'
import { executeJob, type Job } from '../jobs/job.ts'
import { expectCount, type Contender, type ContenderSettings } from './contender.ts'

const name = 'job'
const batches = (sizes: readonly number[], fetchers: number) =>
  Object.fromEntries(sizes.map((batch) => [`batch ${batch} × ${fetchers}`, { batch, fetchers }]))

export const pgBoss: Contender = {
  name: 'pg-boss tuned',
  package: 'pg-boss',
  postgres: true,
  variants: {
    'no-op': { ...batches([500, 1_000, 2_000], 2) },
    'cpu-2ms': { ...batches([10, 50, 200], 2) },
    'cpu-22ms': { ...batches([2, 10], 2) },
    idle: { ...batches([10], 1) },
  },
  async install(url) {
    const boss = await open(url)
    await boss.createQueue(name, { notify: true })
    await boss.stop()
  },
  async produce(url, options = {}) {
    const { heartbeatSeconds } = options
    const boss = await open(url)
    const count = async (condition: string) => {
      const text = `SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = '${name}' AND ${condition}`
      const [row] = await queryRows<{ jobs: number }>(url, text)
      return row?.jobs ?? 0
    }
    return {
      enqueue: (job) => boss.send(name, job, heartbeatSeconds === undefined ? {} : { heartbeatSeconds }),
      enqueueMany: (jobs) =>
        boss.insert(
          name,
          jobs.map((data) => ({ data })),
        ),
      isDrained: async () => (await count(`state < 'completed'`)) === 0,
      check: async (wanted) =>
        expectCount('jobs that pg-boss completed', await count(`state = 'completed' AND retry_count = 0`), wanted),
      close: () => boss.stop(),
    }
  },
  async serve(url: string, { batch = 1, fetchers = 1 }: ContenderSettings) {
    const boss = await open(url, { useListenNotify: true })
    const options = {
      batchSize: batch,
      localConcurrency: fetchers,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
    }
    await boss.work<Job>(name, options, async (jobs) => {
      for (const { data } of jobs) executeJob(data)
    })
    return { stop: () => boss.stop() }
  },
}

async function open(url: string, options: { useListenNotify?: boolean } = {}): Promise<PgBoss> {
  const { PgBoss: Boss } = await import('pg-boss')
  const boss = new Boss({ connectionString: url, max: 20, ...options })
  boss.on('error', (error) => console.error(error))
  return boss.start()
}
