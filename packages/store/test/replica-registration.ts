/** The registration of a replica, with the thresholds of the default preset. */
import type { ReplicaRegistration } from '@q/store'

export function introduction(id: string, name = 'host'): ReplicaRegistration {
  return {
    id,
    name,
    hostname: 'host',
    pid: 1,
    version: '0',
    queues: [],
    tasks: [],
    capabilities: [],
    slots: 2,
    preset: 'default',
    onCrash: 'fail',
    thresholds: {
      replicaBeatMs: 10_000,
      replicaStaleMs: 60_000,
      checkEveryMs: 30_000,
      claimerBeatMs: 30_000,
      claimerStaleMs: 120_000,
      runnerBeatMs: 30_000,
      runnerStaleMs: 300_000,
    },
  }
}
