/** Throughput of a backlog: no-op jobs, and jobs that compute. */
import { cores, graphileAsItComes, peersOnce, peersPerCore, plain, qFail, qRetry } from './entrants.ts'
import { drainJobs } from './drain-jobs.ts'
import type { FigureKind, Measurement } from './measurement.ts'

const figures: readonly FigureKind[] = [
  { key: 'perSecond', title: 'jobs/s', better: 'more', plotted: true },
  { key: 'serverUs', title: 'server CPU, µs/job', better: 'less' },
  { key: 'walBytes', title: 'WAL, B/job', better: 'less' },
  { key: 'mainThreadUs', title: 'main thread, µs/job', better: 'less' },
  { key: 'workerUs', title: 'worker processes, µs/job', better: 'less' },
]

const method = `The time from the first job that begins to the last durable end. q executes jobs on ${cores} worker threads of one process, peers on
the main thread of each process.`
const coldMethod = `${method} The backlog is in the queue before the workers start.`
const warmMethod = `${method} All workers are up and have executed a few jobs before the backlog is enqueued.`

export const noOp: Measurement = {
  name: 'no-op',
  title: 'No-op jobs',
  method: coldMethod,
  entrants: [qRetry, qFail, ...peersOnce, ...peersPerCore, graphileAsItComes],
  figures,
  sample: (bench, entrant) =>
    drainJobs(bench, entrant, {
      workload: 'no-op',
      count: bench.noOpJobs(entrant.contender, entrant.processes),
      jobMs: 0,
    }),
}

export const cpu2: Measurement = {
  name: 'cpu-2ms',
  title: 'Jobs of 2.2 ms of computation',
  method: warmMethod,
  entrants: [qRetry, ...peersOnce, ...peersPerCore, plain],
  figures,
  sample: (bench, entrant) =>
    drainJobs(bench, entrant, {
      workload: 'cpu-2ms',
      count: bench.sizes.cpu2Jobs,
      jobMs: 2.2,
      warm: entrant !== plain,
    }),
}

export const cpu22: Measurement = {
  name: 'cpu-22ms',
  title: 'Jobs of 22 ms of computation',
  method: warmMethod,
  entrants: [qRetry, ...peersOnce, ...peersPerCore, plain],
  figures,
  sample: (bench, entrant) =>
    drainJobs(bench, entrant, {
      workload: 'cpu-22ms',
      count: bench.sizes.cpu22Jobs,
      jobMs: 22,
      warm: entrant !== plain,
    }),
}
