/** Reads of queues: backlog, rates, groups and keys. Their cost does not depend on how many runs wait or have ended. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { contendedKeys, type ContendedKey, type ContendedKeysRequest } from '../reads/queues/contended-keys.ts'
import { getQueue, type QueueDetail } from '../reads/queues/get-queue.ts'
import { listQueues } from '../reads/queues/list-queues.ts'
import type { QueueView } from '../reads/queues/queue-view.ts'
import { unservedLanes, type UnservedLane } from '../reads/queues/unserved-lanes.ts'

export interface QueueReadVerbs {
  // ---- Reads of queues: no locks, no writes

  /**
   * Returns every queue with its backlog by state and gate, the age of its oldest run, its rates, and who paused it.
   * Counts stop at a bound (`atLeast`); ages are exact. The cost does not grow with the backlog.
   */
  listQueues(): Promise<QueueView[]>

  /**
   * Returns one queue with its tasks, groups and contended concurrency keys.
   * Undefined if it never had a run and was never paused.
   */
  getQueue(name: string): Promise<QueueDetail | undefined>

  /**
   * Returns the concurrency keys that runs wait for, the most contended first, with the runs that hold them.
   * Compares at most 1 000 keys.
   */
  contendedKeys(request?: ContendedKeysRequest): Promise<ContendedKey[]>

  /**
   * Returns lanes with a waiting run that no live node serves, and tasks that no replica has published.
   * Uses the conditions of the claim itself; at most 100 of each.
   */
  unservedLanes(): Promise<UnservedLane[]>
}

export function queueReadVerbs(db: Kysely<DB>): QueueReadVerbs {
  return {
    listQueues: () => listQueues(db),
    getQueue: (name) => getQueue(db, name),
    contendedKeys: (request) => contendedKeys(db, request),
    unservedLanes: () => unservedLanes(db),
  }
}
