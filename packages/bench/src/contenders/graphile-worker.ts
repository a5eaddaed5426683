/** graphile-worker: with its defaults, and with its local queue and batched completion. */
import { queryRows } from '../machine/database.ts'
import { executeJob, type Job } from '../jobs/job.ts'
import { expectCount, type Contender, type ContenderSettings } from './contender.ts'

const batches = (sizes: readonly number[]) =>
  Object.fromEntries(sizes.map((size) => [`local queue ${size}`, { localQueue: size, concurrency: 24 }]))

export const graphileTuned: Contender = {
  name: 'graphile-worker tuned',
  package: 'graphile-worker',
  postgres: true,
  variants: {
    'no-op': batches([500, 1_000, 2_000]),
    'cpu-2ms': batches([25, 100, 500]),
    'cpu-22ms': { 'local queue 5': { localQueue: 5, concurrency: 4 }, ...batches([25]) },
    idle: batches([500]),
  },
  install,
  produce,
  serve,
}

export const graphileDefault: Contender = {
  ...graphileTuned,
  name: 'graphile-worker default',
  noOpShare: 0.1,
  variants: {
    'no-op': { default: {} },
    'cpu-2ms': { default: {} },
    'cpu-22ms': { default: {} },
    idle: { default: {} },
  },
}

async function install(url: string): Promise<void> {
  const { runMigrations } = await import('graphile-worker')
  await runMigrations({ connectionString: url })
}

async function serve(url: string, { localQueue, concurrency }: ContenderSettings) {
  const { Logger, run } = await import('graphile-worker')
  const tuned =
    localQueue === undefined
      ? {}
      : { localQueue: { size: localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0, maxPoolSize: 10 }
  const runner = await run({
    preset: { worker: { connectionString: url, ...(concurrency && { concurrentJobs: concurrency }), ...tuned } },
    logger: new Logger(() => () => {}),
    noHandleSignals: true,
    taskList: { job: (payload) => void executeJob(payload as Job) },
  })
  return { stop: () => runner.stop() }
}

async function produce(url: string) {
  const { Logger, makeWorkerUtils } = await import('graphile-worker')
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 20, logger: new Logger(() => () => {}) })
  const left = async () => {
    const [row] = await queryRows<{ left: boolean }>(url, 'SELECT EXISTS (SELECT FROM graphile_worker.jobs) AS left')
    return row?.left ?? true
  }
  return {
    enqueue: (job: Job) => utils.addJob('job', job),
    enqueueMany: (jobs: readonly Job[]) => utils.addJobs(jobs.map((payload) => ({ identifier: 'job', payload }))),
    isDrained: async () => !(await left()),
    // It deletes a job that succeeded, and keeps a job that failed.
    check: async () => expectCount('jobs left by graphile-worker', Number(await left()), 0),
    close: async () => await utils.release(),
  }
}
