/** What keeps runs and replicas alive in the eyes of others, and what is done about those that are not. The contracts are here; each law is in the file of its verb. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { beatTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from '../heartbeats/beat-runs.ts'
import {
  upsertReplicaHeartbeat,
  type BeatOptions,
  type HeartbeatAnswer,
  type ReplicaVitals,
} from '../heartbeats/beat-replica.ts'
import { recordHeartbeatFailures, type HeartbeatFailure } from '../heartbeats/record-failures.ts'
import { deleteStaleReplicaHeartbeats } from '../heartbeats/delete-stale.ts'
import type { RunId } from '../lease.ts'
import { leaveDuty, takeDuty } from '../liveness/duty.ts'
import { heldTaskRuns, type HeldRun } from '../liveness/held.ts'
import { withdrawPresence } from '../liveness/presence.ts'
import { failStaleTaskRuns, reap, requeueStaleClaimed } from '../liveness/reap.ts'
import type { Recovered } from '../liveness/recover.ts'
import { recoverOwnTaskRuns, type OwnRecovery } from '../liveness/recover-own.ts'
import { getStaleTaskRuns, type StaleQuestion, type StaleRun } from '../liveness/stale.ts'
import { watchPresence, type WatchAnswer, type WatchRequest } from '../liveness/watch.ts'
import { awaitTaskRuns } from '../reads/runs.ts'
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
import { pruneReplicas, type PrunedReplicas, type ReplicaPruneRequest } from '../replicas/prune.ts'
import { registerReplica, type ReplicaIntroduction } from '../replicas/register.ts'
import { retireReplica } from '../replicas/retire.ts'
import { sampleReplicas } from '../replicas/sample.ts'
import { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from '../tasks/publish.ts'
import { wakeDue, wakeQueue } from '../wakes.ts'

export interface LivenessVerbs {
  // ---- Liveness

  /**
   * Signs of life for all runs of a replica, claimed and running, in one statement, with progress and a note.
   * One answer each: alive, busy (locked by somebody: not stored), cancelled (stop it), ended (settled under this lease),
   * lost (somebody else may have it).
   */
  beatTaskRuns(sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]>

  /**
   * Held runs whose holder, or who themselves, gave no sign of life for longer than the holder's own thresholds.
   * With id, holder, host, cause and the age of the last beat. Changes nothing.
   */
  getStaleTaskRuns(question?: StaleQuestion): Promise<StaleRun[]>

  /**
   * Recovers stale runs: CLAIMED to AVAILABLE, RUNNING by its onCrash. Judged again under the row lock; recorded.
   * Safe with any number of reapers; never waits for a run that somebody is settling.
   */
  reap(question: StaleQuestion & { readonly by: string }): Promise<Recovered>

  /**
   * Stale RUNNING to FAILED, whatever onCrash says. Counts as a crash.
   * For people, and for systems that decide by themselves what to run again.
   */
  failStaleTaskRuns(question: Omit<StaleQuestion, 'states'> & { readonly by: string }): Promise<Recovered>

  /**
   * Stale CLAIMED to AVAILABLE.
   * Safe: the code never began.
   */
  requeueStaleClaimed(question: Omit<StaleQuestion, 'states'> & { readonly by: string }): Promise<Recovered>

  /**
   * What the database says this replica holds.
   * For it to compare with what it executes.
   */
  heldTaskRuns(replicaId: string): Promise<HeldRun[]>

  /**
   * What a replica holds and does not execute any more: the crash path, by itself and under its own leases.
   * Recorded like every recovery; what never began is given back with `releaseTaskRuns` instead.
   */
  recoverOwnTaskRuns(own: OwnRecovery): Promise<Recovered>

  /**
   * Takes or renews the watch over presence, or the post of its deputy, if one is free.
   * The watcher also marks presence locks that are missing or back, and gets the replicas that are gone and hold runs.
   */
  watchPresence(request: WatchRequest): Promise<WatchAnswer>

  /**
   * A replica that lost its presence session is not judged by that layer until it has the lock again.
   * `openReplicaSession(url, …)` takes the lock.
   */
  withdrawPresence(replicaId: string): Promise<void>

  /**
   * A duty of one replica at a time, by lease: taken or renewed if it is free, ours, run out, or held for longer than asked.
   * Else when to ask again.
   */
  takeDuty(duty: { name: string; holder: string; forMs: number }): Promise<{ mine: boolean; untilInMs: number }>

  /**
   * Given up in order.
   * Nothing happens if somebody else has it.
   */
  leaveDuty(duty: { name: string; holder: string }): Promise<void>

  // ---- Replicas and tasks

  /**
   * A replica introduces itself with its own thresholds; its first heartbeat is part of it.
   * Its name is made unique among the living; `num` is the key of its presence lock.
   */
  registerReplica(replica: ReplicaIntroduction): Promise<{ name: string; num: number }>

  /**
   * The replica's sign of life, by the database's clock, one row updated in place; may withdraw its presence record.
   * The response says whether it is known, whether it was ordered to drain (by whom, until when, and what happens to the rest),
   * and whether the database has declared its program too old.
   */
  upsertReplicaHeartbeat(replicaId: string, vitals: ReplicaVitals, options?: BeatOptions): Promise<HeartbeatAnswer>

  /**
   * Heartbeats that could not be sent, once the database answers again.
   * With how long ago each failed, which one in a row it was, and why.
   */
  recordHeartbeatFailures(replicaId: string, failures: readonly HeartbeatFailure[]): Promise<void>

  /**
   * The vitals of all living replicas into the time series, one row per heartbeat at most.
   * By any replica; how many were new.
   */
  sampleReplicas(): Promise<number>

  /**
   * This replica has room for more: users' own transactions wake it when they commit.
   * Mark, look for work once more, then wait.
   */
  markIdle(replicaId: string): Promise<void>

  /**
   * It has no room: nobody needs to wake it.
   * Nothing happens if it was not marked.
   */
  markBusy(replicaId: string): Promise<void>

  /**
   * Removes heartbeats of old, and marks their replicas as stopped.
   * Not those of replicas that still hold something.
   */
  deleteStaleReplicaHeartbeats(olderThanMs: number): Promise<{ ids: string[]; count: number }>

  /**
   * Removes replicas that ended long ago and hold nothing, and old samples and failures, a bounded number at a time.
   * Ids of the replicas, counts of the rest.
   */
  pruneReplicas(request: ReplicaPruneRequest): Promise<PrunedReplicas>

  /**
   * Orders a replica to drain: it stops claiming, releases runs that have not started, and leaves once its runs have finished.
   * At the deadline, if the order has one, it stops the rest; `onDeadline` decides whether they are released or fail. The last order counts.
   */
  drainReplica(replicaId: string, order: NewDrainOrder): Promise<'draining' | 'not-found'>

  /**
   * Undoes a drain: `claiming` if the replica claims again; `leaving` if it is too late (deadline reached, runs finished, SIGTERM), or
   * if its release cannot resume; `not-draining`; `not-found` if it does not exist or has left.
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
   * The replica has left in order and holds nothing.
   * Its heartbeat is removed and its name is free.
   */
  retireReplica(replicaId: string): Promise<void>

  /**
   * What a replica knows about its tasks, for producers that never load their code.
   * The last to publish wins. Runs of these tasks that wait at the gate `task` pass it.
   */
  publishTasks(replicaId: string, tasks: readonly TaskNotice[]): Promise<void>

  /**
   * All tasks that replicas have published.
   * By name.
   */
  publishedTasks(): Promise<PublishedTask[]>

  // ---- Wakes

  /**
   * Tells idle replicas that a queue has work. After the commit; a hint, never a fact.
   * Listen with `listen(url, channel, handlers)`.
   */
  wakeQueue(queue: string): Promise<void>

  /**
   * Wakes replicas for a run that is due soon, in `inMs` milliseconds. Call it after the commit; a hint, never a fact.
   * A replica sleeps until the next run it knows of is due.
   */
  wakeDue(inMs: number): Promise<void>

  /**
   * From now on the end of these runs is announced.
   * Listen first, then await, then look.
   */
  awaitTaskRuns(ids: readonly RunId[]): Promise<void>
}

export function livenessVerbs(db: Kysely<DB>): LivenessVerbs {
  return {
    beatTaskRuns: (sender, beats) => beatTaskRuns(db, sender, beats),
    getStaleTaskRuns: (question) => getStaleTaskRuns(db, question),
    reap: (question) => reap(db, question),
    failStaleTaskRuns: (question) => failStaleTaskRuns(db, question),
    requeueStaleClaimed: (question) => requeueStaleClaimed(db, question),
    heldTaskRuns: (replicaId) => heldTaskRuns(db, replicaId),
    recoverOwnTaskRuns: (own) => recoverOwnTaskRuns(db, own),
    watchPresence: (request) => watchPresence(db, request),
    withdrawPresence: (replicaId) => withdrawPresence(db, replicaId),
    takeDuty: (duty) => takeDuty(db, duty),
    leaveDuty: (duty) => leaveDuty(db, duty),
    registerReplica: (replica) => registerReplica(db, replica),
    upsertReplicaHeartbeat: (replicaId, vitals, options) => upsertReplicaHeartbeat(db, replicaId, vitals, options),
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
    wakeQueue: (queue) => wakeQueue(db, queue),
    wakeDue: (inMs) => wakeDue(db, inMs),
    awaitTaskRuns: (ids) => awaitTaskRuns(db, ids),
  }
}
