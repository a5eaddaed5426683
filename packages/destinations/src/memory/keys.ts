/** The keys under which a memory destination writes. Ids of workers and runs become one part of a key each. */

const idLengthMax = 100

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
    heartbeat: (worker) => `${prefix}/workers/${keyPart(worker)}/heartbeat`,
    samples: (worker) => `${prefix}/metrics/heartbeats/${keyPart(worker)}/`,
    failures: (worker) => `${prefix}/workers/${keyPart(worker)}/heartbeat-failures`,
    recoveries: `${prefix}/metrics/lock-recoveries/`,
    lock: (run) => `${prefix}/tasks/${keyPart(run)}/lock`,
  }
}

function keyPart(id: string): string {
  return id.replaceAll(/[^\w.-]/g, '_').slice(0, idLengthMax) || '_'
}
