/** The keys that a memory destination writes. The id of a worker or run is one segment of a key, so it is sanitized. */
import { sanitizedId } from '../sanitized-id.ts'

export interface Keys {
  /** The latest heartbeat of a worker. */
  heartbeat(worker: string): string
  /** The prefix of a worker's past heartbeats, one entity each; the timestamp follows. */
  samples(worker: string): string
  /** Failed heartbeats of a worker. */
  failures(worker: string): string
  /** The prefix of recovered runs; the time of the recovery follows. */
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
