/** Run heartbeats, recovery and wakes: the contracts of the verbs. The rules of each verb are in its own file. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { beatTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from '../heartbeats/beat-runs.ts'
import type { Lease, RunId } from '../lease.ts'
import { releaseDuty, takeDuty } from '../liveness/duty.ts'
import { heldTaskRuns, leaseHolder, type HeldRun, type LeaseHolder } from '../liveness/held.ts'
import { withdrawPresence } from '../liveness/presence.ts'
import { failStaleTaskRuns, reap, requeueStaleClaimed } from '../liveness/reap.ts'
import type { RecoveryResult } from '../liveness/recover.ts'
import { recoverOwnTaskRuns, type OwnRecovery } from '../liveness/recover-own.ts'
import { getStaleTaskRuns, type StaleQuery, type StaleRun } from '../liveness/stale.ts'
import { watchPresence, type WatchAnswer, type WatchRequest } from '../liveness/watch.ts'
import { awaitTaskRuns } from '../reads/runs/runs.ts'
import { wakeDue, wakeQueue } from '../wakes.ts'

export interface LivenessVerbs {
  // ---- Liveness

  /**
   * Writes heartbeats for all runs that a replica holds, in one statement, with progress and a note.
   * Returns one answer each: alive; busy (another session has locked the run, nothing was stored); cancelled (stop it);
   * ended (settled under this lease); lost (another replica may hold it).
   */
  beatTaskRuns(sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]>

  /**
   * Returns held runs that are stale: the holder, or the run itself, sent no heartbeat for longer than the holder's own
   * thresholds.
   * With id, holder, host, cause and the age of the last heartbeat. Changes nothing.
   */
  getStaleTaskRuns(question?: StaleQuery): Promise<StaleRun[]>

  /**
   * Recovers stale runs: CLAIMED to AVAILABLE, RUNNING by its onCrash. Judges each run again under its row lock, and
   * records each recovery.
   * Safe with any number of reapers; never waits for a run that another session is settling.
   */
  reap(question: StaleQuery & { readonly by: string }): Promise<RecoveryResult>

  /**
   * Fails stale RUNNING runs, regardless of onCrash, and counts a crash. For people, and for systems that decide
   * themselves which runs to repeat.
   */
  failStaleTaskRuns(question: Omit<StaleQuery, 'states'> & { readonly by: string }): Promise<RecoveryResult>

  /**
   * Requeues stale CLAIMED runs: they become AVAILABLE.
   * Safe, because their code never began.
   */
  requeueStaleClaimed(question: Omit<StaleQuery, 'states'> & { readonly by: string }): Promise<RecoveryResult>

  /**
   * Returns the runs that a replica holds according to the database. The replica compares them with the runs it
   * executes.
   */
  heldTaskRuns(replicaId: string): Promise<HeldRun[]>

  /**
   * Returns the replica that got this lease, and the task of the run.
   * Undefined if the run has another fence by now. For programs that write on behalf of workers.
   */
  leaseHolder(lease: Lease): Promise<LeaseHolder | undefined>

  /**
   * Recovers runs that a replica holds but no longer executes, as after a crash, under the replica's own leases.
   * Records each recovery. A run that never began is released with `releaseTaskRuns` instead.
   */
  recoverOwnTaskRuns(own: OwnRecovery): Promise<RecoveryResult>

  /**
   * Takes or renews the duty of watching presence, or the duty of its deputy, if one is free.
   * For the watcher it also marks presence locks that are missing or back, and returns the dead replicas that still
   * hold runs.
   */
  watchPresence(request: WatchRequest): Promise<WatchAnswer>

  /**
   * Withdraws the presence of a replica that lost its session: that evidence does not apply to it until it has the lock
   * again.
   * `openReplicaSession(url, …)` takes the lock.
   */
  withdrawPresence(replicaId: string): Promise<void>

  /**
   * Takes or renews a duty that one replica has at a time, by lease: if it is free, ours, expired, or held for longer
   * than asked.
   * Otherwise returns when to ask again.
   */
  takeDuty(duty: { name: string; holder: string; forMs: number }): Promise<{ mine: boolean; untilInMs: number }>

  /** Releases a duty before its lease expires. Does nothing if another replica has it. */
  releaseDuty(duty: { name: string; holder: string }): Promise<void>

  // ---- Wakes

  /**
   * Wakes idle replicas: a queue has work. Call it after the commit; a wake is a hint, never a fact.
   * Listen with `listen(url, channels, handlers)`.
   */
  wakeQueue(queue: string): Promise<void>

  /**
   * Wakes replicas for a run that is due soon, in `inMs` milliseconds. Call it after the commit; a hint, never a fact.
   * A replica sleeps until the next run it knows of is due.
   */
  wakeDue(inMs: number): Promise<void>

  /**
   * Requests a wake for the end of these runs.
   * Listen first, then call it, then read the runs.
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
    leaseHolder: (lease) => leaseHolder(db, lease),
    recoverOwnTaskRuns: (own) => recoverOwnTaskRuns(db, own),
    watchPresence: (request) => watchPresence(db, request),
    withdrawPresence: (replicaId) => withdrawPresence(db, replicaId),
    takeDuty: (duty) => takeDuty(db, duty),
    releaseDuty: (duty) => releaseDuty(db, duty),
    wakeQueue: (queue) => wakeQueue(db, queue),
    wakeDue: (inMs) => wakeDue(db, inMs),
    awaitTaskRuns: (ids) => awaitTaskRuns(db, ids),
  }
}
