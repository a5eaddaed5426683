/** What keeps runs and replicas alive in the eyes of others, and what is done about those that are not. The contracts are here; each law is in the file of its verb. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { beatRunningTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from '../heartbeats/beat-runs.ts'
import { upsertReplicaHeartbeat, type ReplicaVitals } from '../heartbeats/beat-replica.ts'
import { deleteStaleReplicaHeartbeats } from '../heartbeats/delete-stale.ts'
import type { RunId } from '../lease.ts'
import { leaveDuty, takeDuty } from '../liveness/duty.ts'
import { heldTaskRuns, type HeldRun } from '../liveness/held.ts'
import { markPresence, withdrawPresence } from '../liveness/presence.ts'
import { failStaleTaskRuns, reap, requeueStaleClaimed } from '../liveness/reap.ts'
import type { Recovered } from '../liveness/recover.ts'
import { getStaleTaskRuns, type StaleQuestion, type StaleRun } from '../liveness/stale.ts'
import { awaitTaskRuns } from '../reads/runs.ts'
import { drainReplica, undrainReplica } from '../replicas/drain.ts'
import { registerReplica, type ReplicaIntroduction } from '../replicas/register.ts'
import { retireReplica } from '../replicas/retire.ts'
import { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from '../tasks/publish.ts'
import { wakeQueue } from '../wakes.ts'

export interface LivenessVerbs {
  // ---- Liveness

  /**
   * Signs of life for all runs of a replica in one statement, with progress and a note.
   * One answer each: alive, cancelled (stop it), lost (somebody else has it).
   */
  beatRunningTaskRuns(sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]>

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
   * Stale RUNNING to FAILED, whatever onCrash says.
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
   * Writes down which presence locks are missing since when, and which are back.
   * Ids of the replicas that are gone.
   */
  markPresence(): Promise<string[]>

  /**
   * A replica that lost its presence session is not judged by that layer until it has the lock again.
   * `openPresence(url, …)` takes the lock.
   */
  withdrawPresence(replicaId: string): Promise<void>

  /**
   * A duty of one replica at a time, by lease: taken or renewed if it is free, ours, or run out.
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
   * The replica's sign of life, by the database's clock, one row updated in place.
   * The answer says whether somebody asked it to drain.
   */
  upsertReplicaHeartbeat(replicaId: string, vitals: ReplicaVitals): Promise<{ draining: boolean }>

  /**
   * Removes heartbeats of old.
   * Not those of replicas that still hold something.
   */
  deleteStaleReplicaHeartbeats(olderThanMs: number): Promise<{ ids: string[]; count: number }>

  /**
   * Asks a replica to leave: who asked, and until when.
   * It learns of it at once, or with its next heartbeat.
   */
  drainReplica(replicaId: string, order: { by: string; deadlineMs?: number }): Promise<'draining' | 'not-found'>

  /**
   * Takes the wish back, as far as the database is concerned.
   * Only for a replica that has not left.
   */
  undrainReplica(replicaId: string): Promise<'claiming' | 'not-found'>

  /**
   * The replica has left in order and holds nothing.
   * Its heartbeat is removed and its name is free.
   */
  retireReplica(replicaId: string): Promise<void>

  /**
   * What a replica knows about its tasks, for producers that never load their code.
   * The last to publish wins.
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
   * From now on the end of these runs is announced.
   * Listen first, then await, then look.
   */
  awaitTaskRuns(ids: readonly RunId[]): Promise<void>
}

export function livenessVerbs(db: Kysely<DB>): LivenessVerbs {
  return {
    beatRunningTaskRuns: (sender, beats) => beatRunningTaskRuns(db, sender, beats),
    getStaleTaskRuns: (question) => getStaleTaskRuns(db, question),
    reap: (question) => reap(db, question),
    failStaleTaskRuns: (question) => failStaleTaskRuns(db, question),
    requeueStaleClaimed: (question) => requeueStaleClaimed(db, question),
    heldTaskRuns: (replicaId) => heldTaskRuns(db, replicaId),
    markPresence: () => markPresence(db),
    withdrawPresence: (replicaId) => withdrawPresence(db, replicaId),
    takeDuty: (duty) => takeDuty(db, duty),
    leaveDuty: (duty) => leaveDuty(db, duty),
    registerReplica: (replica) => registerReplica(db, replica),
    upsertReplicaHeartbeat: (replicaId, vitals) => upsertReplicaHeartbeat(db, replicaId, vitals),
    deleteStaleReplicaHeartbeats: (olderThanMs) => deleteStaleReplicaHeartbeats(db, olderThanMs),
    drainReplica: (replicaId, order) => drainReplica(db, replicaId, order),
    undrainReplica: (replicaId) => undrainReplica(db, replicaId),
    retireReplica: (replicaId) => retireReplica(db, replicaId),
    publishTasks: (replicaId, tasks) => publishTasks(db, replicaId, tasks),
    publishedTasks: () => publishedTasks(db),
    wakeQueue: (queue) => wakeQueue(db, queue),
    awaitTaskRuns: (ids) => awaitTaskRuns(db, ids),
  }
}
