/** Measures one, two and four replicas of q on the same machine. */
import { drainJobs } from './drain-jobs.ts'
import { cores, qRetry } from './entrants.ts'
import type { Measurement } from './measurement.ts'

export const replicas: Measurement = {
  name: 'replicas',
  title: 'Several replicas',
  method: `No-op jobs and jobs of 2.2 ms with one, two and four replicas of q on the same ${cores} cores, each with ${cores} threads: the price
of their competition. More machines are needed to see how q scales.`,
  entrants: [1, 2, 4].map((processes) => ({
    ...qRetry,
    processes,
    label: processes === 1 ? qRetry.label : `q, ${processes} replicas`,
  })),
  figures: [
    { key: 'noOp', title: 'no-op, jobs/s', better: 'more', plotted: true },
    { key: 'cpu2', title: '2.2 ms, jobs/s', better: 'more' },
    { key: 'serverUs', title: 'server CPU, µs/no-op', better: 'less' },
  ],
  long: true,
  async sample(bench, entrant) {
    const count = bench.noOpJobs(entrant.contender, 1)
    const noOp = await drainJobs(bench, entrant, { workload: 'no-op', count, jobMs: 0 })
    const cpu2 = await drainJobs(bench, entrant, {
      workload: 'cpu-2ms',
      count: bench.sizes.cpu2Jobs,
      jobMs: 2.2,
      warm: true,
    })
    return { noOp: noOp['perSecond'] ?? 0, cpu2: cpu2['perSecond'] ?? 0, serverUs: noOp['serverUs'] ?? 0 }
  },
}
