/** Replicas and the tasks they publish: the contracts of the verbs. The rules of each verb are in its own file. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import {
  upsertReplicaHeartbeat,
  type BeatOptions,
  type HeartbeatAnswer,
  type ReplicaStats,
} from '../heartbeats/beat-replica.ts'
import { recordHeartbeatFailures, type HeartbeatFailure } from '../heartbeats/record-failures.ts'
import {
  announceLeaving,
  drainReplica,
  leaveIfOrdered,
  undrainReplica,
  type LeaveDecision,
  type NewDrainOrder,
  type UndrainAnswer,
} from '../replicas/drain.ts'
import { markBusy, markIdle } from '../replicas/idle.ts'
import {
  deleteStaleReplicaHeartbeats,
  pruneReplicas,
  type PrunedReplicas,
  type ReplicaPruneRequest,
} from '../replicas/prune.ts'
import { registerReplica, type ReplicaRegistration } from '../replicas/register.ts'
import { retireReplica } from '../replicas/retire.ts'
import { sampleReplicas } from '../replicas/sample.ts'
import { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from '../tasks/publish.ts'

export interface ReplicaVerbs {
  // ---- Replicas and tasks

  /**
   * Registers a replica with its own thresholds and writes its first heartbeat.
   * Makes its name unique among live replicas; `num` is the key of its presence lock.
   */
  registerReplica(replica: ReplicaRegistration): Promise<{ name: string; num: number }>

  /**
   * Writes the replica's heartbeat, by the database's clock, into its one row; may withdraw its presence record.
   * Returns whether the replica is known, whether it was ordered to drain (by whom, until when, and what happens to the
   * runs that remain), and whether the database has declared its program too old.
   */
  upsertReplicaHeartbeat(replicaId: string, stats: ReplicaStats, options?: BeatOptions): Promise<HeartbeatAnswer>

  /**
   * Records heartbeats that could not be sent, once the database answers again. Each with its age, its number in the
   * series of failures, and its error.
   */
  recordHeartbeatFailures(replicaId: string, failures: readonly HeartbeatFailure[]): Promise<void>

  /**
   * Adds the stats of all live replicas to the time series, at most one row per heartbeat; any replica may call it.
   * Returns how many rows are new.
   */
  sampleReplicas(): Promise<number>

  /**
   * Marks a replica as idle: transactions that enqueue runs wake it when they commit. Mark first, look for work once
   * more, then wait.
   */
  markIdle(replicaId: string): Promise<void>

  /**
   * Marks a replica as busy: no transaction needs to wake it.
   * Does nothing if it was not marked as idle.
   */
  markBusy(replicaId: string): Promise<void>

  /**
   * Removes old heartbeats and marks their replicas as stopped.
   * Keeps the heartbeats of replicas that still hold runs.
   */
  deleteStaleReplicaHeartbeats(olderThanMs: number): Promise<{ ids: string[]; count: number }>

  /**
   * Removes replicas that ended long ago and hold nothing, and old samples and failures, a bounded number at a time.
   * Returns the ids of the replicas and the counts of the other rows.
   */
  pruneReplicas(request: ReplicaPruneRequest): Promise<PrunedReplicas>

  /**
   * Orders a replica to drain: the replica stops claiming, releases runs that have not started, and leaves once its
   * runs have finished. At the deadline, if the order has one, it stops the rest; `onDeadline` decides whether they are
   * released or fail. A later order replaces the deadline and `onDeadline` of an earlier one.
   */
  drainReplica(replicaId: string, order: NewDrainOrder): Promise<'draining' | 'not-found'>

  /**
   * Undoes a drain. Returns `claiming` if the replica claims again; `leaving` if it is too late (deadline reached, runs
   * finished, SIGTERM), or if its release cannot resume; `not-draining`; `not-found` if it does not exist or has left.
   */
  undrainReplica(replicaId: string): Promise<UndrainAnswer>

  /**
   * Records that a replica leaves by its own decision, as after SIGTERM.
   * Its drain cannot be undone from then on.
   */
  announceLeaving(replicaId: string, announcement: { deadlineMs: number }): Promise<void>

  /**
   * Decides whether a replica that drains by order, and has finished its runs or reached its deadline, leaves now.
   * Exactly one of this and `undrainReplica` succeeds. `unknown`: its row was deleted.
   */
  leaveIfOrdered(replicaId: string, request: { finished: boolean }): Promise<LeaveDecision>

  /**
   * Records that the replica has left in order and holds nothing.
   * Removes its heartbeat and frees its name.
   */
  retireReplica(replicaId: string): Promise<void>

  /**
   * Publishes the tasks of a replica with their options, for producers that do not load the code of the tasks.
   * The last publication wins. Opens the gate `task` for runs that wait for these tasks.
   */
  publishTasks(replicaId: string, tasks: readonly TaskNotice[]): Promise<void>

  /**
   * Returns all tasks that replicas have published.
   * Sorted by name.
   */
  publishedTasks(): Promise<PublishedTask[]>
}

export function replicaVerbs(db: Kysely<DB>): ReplicaVerbs {
  return {
    registerReplica: (replica) => registerReplica(db, replica),
    upsertReplicaHeartbeat: (replicaId, stats, options) => upsertReplicaHeartbeat(db, replicaId, stats, options),
    recordHeartbeatFailures: (replicaId, failures) => recordHeartbeatFailures(db, replicaId, failures),
    sampleReplicas: () => sampleReplicas(db),
    markIdle: (replicaId) => markIdle(db, replicaId),
    markBusy: (replicaId) => markBusy(db, replicaId),
    deleteStaleReplicaHeartbeats: (olderThanMs) => deleteStaleReplicaHeartbeats(db, olderThanMs),
    pruneReplicas: (request) => pruneReplicas(db, request),
    drainReplica: (replicaId, order) => drainReplica(db, replicaId, order),
    undrainReplica: (replicaId) => undrainReplica(db, replicaId),
    announceLeaving: (replicaId, announcement) => announceLeaving(db, replicaId, announcement),
    leaveIfOrdered: (replicaId, request) => leaveIfOrdered(db, replicaId, request),
    retireReplica: (replicaId) => retireReplica(db, replicaId),
    publishTasks: (replicaId, tasks) => publishTasks(db, replicaId, tasks),
    publishedTasks: () => publishedTasks(db),
  }
}
