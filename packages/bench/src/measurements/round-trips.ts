/** Measures round trips to the server per job. */
import { startCountingProxy } from '../machine/counting-proxy.ts'
import { drainJobs } from './drain-jobs.ts'
import { postgresPeersOnce, qFail, qRetry } from './entrants.ts'
import type { Measurement } from './measurement.ts'

export const roundTrips: Measurement = {
  name: 'round-trips',
  title: 'Round trips for each job',
  method: `The workers reach the server through a proxy that counts each Sync and each simple query. The count begins with the first
job and ends with the last durable end, so the background loops of that time are included.`,
  entrants: [qRetry, qFail, ...postgresPeersOnce],
  figures: [
    { key: 'noOp', title: 'no-op, round trips/job', better: 'less' },
    { key: 'cpu2', title: '2.2 ms, round trips/job', better: 'less' },
  ],
  async sample(bench, entrant) {
    const { roundTrips: noOp = 0 } = await drainJobs(bench, entrant, {
      workload: 'no-op',
      count: Math.ceil(bench.noOpJobs(entrant.contender, 1) / 3),
      jobMs: 0,
      through: startCountingProxy,
    })
    const { roundTrips: cpu2 = 0 } = await drainJobs(bench, entrant, {
      workload: 'cpu-2ms',
      count: Math.ceil(bench.sizes.cpu2Jobs / 2),
      jobMs: 2.2,
      warm: true,
      through: startCountingProxy,
    })
    return { noOp, cpu2 }
  },
}
