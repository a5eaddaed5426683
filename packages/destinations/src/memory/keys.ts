/** The keys under which a memory destination writes. Ids of workers and runs become one part of a key each. */
import { sanitizedId } from '../sanitized-id.ts'

export interface Keys {
  /** The latest heartbeat of a worker. */
  heartbeat(worker: string): string
  /** The heartbeats of a worker over time, an entity each: the timestamp follows. */
  samples(worker: string): string
  /** Failed heartbeats of a worker. */
  failures(worker: string): string
  /** Recovered runs, by the time of their recovery, which follows. */
  readonly recoveries: string
  /** The lock of a claimed run. */
  lock(run: string): string
}

export function keysUnder(prefix: string): Keys {
  return {
    heartbeat: (worker) => `${prefix}/workers/${sanitizedId(worker)}/heartbeat`,
    samples: (worker) => `${prefix}/metrics/heartbeats/${sanitizedId(worker)}/`,
    failures: (worker) => `${prefix}/workers/${sanitizedId(worker)}/heartbeat-failures`,
    recoveries: `${prefix}/metrics/lock-recoveries/`,
    lock: (run) => `${prefix}/tasks/${sanitizedId(run)}/lock`,
  }
}
