/**
 * The contracts of the functions (verbs) for runs: from enqueue to end, concurrency limits, group weights and pauses. The
 * rules of each verb are in its own file.
 */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { internLane, type LaneName } from '../lanes.ts'
import type { Lease, RunId } from '../lease.ts'
import { appendTaskLogs, type LogAnswer, type LogLine } from '../logs/append.ts'
import { setConcurrencyLimit } from '../gates/concurrency-limit.ts'
import { setGroupWeight } from '../gates/group-weight.ts'
import { pauseQueue, resumeQueue } from '../gates/pause.ts'
import { cancelTaskRuns, type CancelAnswer } from '../runs/cancel.ts'
import { checkpointTaskRun } from '../runs/checkpoint.ts'
import type { ClaimedRun, ClaimRequest } from '../runs/claim.ts'
import { claimAvailableTaskRuns } from '../runs/claimer.ts'
import { enqueueTaskRuns, type EnqueueTaskRunsOptions } from '../runs/enqueue.ts'
import { enqueueUnderLease } from '../runs/enqueue-under-lease.ts'
import { expireTaskRuns } from '../runs/expire.ts'
import { failUnroutableTaskRuns, type UnroutableOptions } from '../runs/unroutable.ts'
import type { EnqueuedRun, NewRun } from '../runs/new-run.ts'
import { newKeyCursor, nextDueInMs, promoteDueTaskRuns, promoteKeys, sweepGatedKeys } from '../runs/promote.ts'
import { sweepTaskGate } from '../tasks/open-gate.ts'
import { pruneTaskRuns, type PruneRequest } from '../runs/prune.ts'
import { releaseTaskRuns } from '../runs/release.ts'
import { retryTaskRun, type RetryAnswer } from '../runs/retry.ts'
import {
  finishTaskRun,
  settleTaskRuns,
  type SettleAnswer,
  type Settlement,
  type SettleOptions,
} from '../runs/settle.ts'
import { snoozeTaskRun } from '../runs/snooze.ts'
import { startTaskRuns } from '../runs/start.ts'

export interface RunVerbs {
  // ---- Runs: from enqueue to end

  /**
   * Returns the number of a lane (queue, task, required capabilities); creates the lane if it is new.
   * Uses its own connection, never a caller's transaction.
   */
  internLane(lane: LaneName): Promise<number>

  /**
   * Enqueues runs durably, all of a batch or none. Checks payloads, names, keys and numbers before it sends anything.
   * Answers in the order given. If another run has the unique key, while it is live or for a period, the answer is that
   * run.
   */
  enqueueTaskRuns(runs: readonly NewRun[], options?: EnqueueTaskRunsOptions): Promise<EnqueuedRun[]>

  /**
   * Enqueues runs for the code of a RUNNING run, under the lease of that run.
   * With a lost lease it inserts nothing, and an event records that.
   */
  enqueueUnderLease(lease: Lease, runs: readonly NewRun[]): Promise<EnqueuedRun[] | 'lease-lost'>

  /**
   * Opens the gate `time` for runs that are due, a bounded number, oldest first.
   * Safe with many callers at once.
   */
  promoteDueTaskRuns(limit: number): Promise<{ ids: RunId[]; looked: number }>

  /**
   * Assigns the slots of concurrency keys to the most urgent runs that can start now.
   * Needed after a commit that freed or requested a slot; `sweepGatedKeys` is the backstop.
   */
  promoteKeys(keys: readonly string[]): Promise<RunId[]>

  /**
   * Does `promoteKeys` for keys that runs wait for, and for keys held by runs that cannot start; a bounded number.
   * Needed after a process died between a commit and its promotion, and after replicas died or started.
   */
  sweepGatedKeys(limit: number): Promise<RunId[]>

  /**
   * Opens the gate `task` for runs of tasks that have been published since they were enqueued.
   * `publishTasks` does it too; the sweep finds runs whose enqueue did not see the publication and committed after it.
   */
  sweepTaskGate(): Promise<RunId[]>

  /**
   * Returns in how many ms the next run at the gate `time` is due, by the database's clock.
   * Undefined if none waits.
   */
  nextDueInMs(): Promise<number | undefined>

  /**
   * Claims at most `limit` runs, which become RUNNING or, with `prefetch`, CLAIMED: by priority, then fair shares, then
   * age. Each has a new fence: (id, fence) is the lease that every later write must present.
   */
  claimAvailableTaskRuns(request: ClaimRequest): Promise<ClaimedRun[]>

  /**
   * Starts CLAIMED runs: commits RUNNING before their code begins.
   * Returns the ids of runs that may be executed; the other leases are lost, or their runs expired.
   */
  startTaskRuns(leases: readonly Lease[]): Promise<RunId[]>

  /**
   * Writes the outcomes of attempts: success, failure (retried later if attempts are left), cancelled. One answer each,
   * in order;
   * one bad row fails alone. The same outcome under the same lease again is a success that changes nothing.
   */
  settleTaskRuns(settlements: readonly Settlement[], options?: SettleOptions): Promise<SettleAnswer[]>

  /**
   * Ends a run in a transaction of its own code, so that its effects and its end commit together.
   * Call `finishTaskRun(trx, lease, result)`; the runner then finds the run settled.
   */
  finishTaskRun(lease: Lease, result: unknown): Promise<'settled' | 'lease-lost'>

  /**
   * Returns a run to PENDING until later; the attempt does not count.
   * A concurrency key that it held goes to the next run. `tookMs`: how long the code ran.
   */
  snoozeTaskRun(lease: Lease, delayMs: number, tookMs?: number): Promise<'snoozed' | 'cancelled' | 'lease-lost'>

  /**
   * Releases runs of the holder: they become AVAILABLE, the attempt does not count, the fence rises.
   * Returns the ids of runs that were still held under their lease.
   */
  releaseTaskRuns(leases: readonly Lease[], by?: Settlement['by'], options?: SettleOptions): Promise<RunId[]>

  /**
   * Saves JSON text, at most 1 MiB, from which a later attempt continues. Rejects, with a code, what jsonb cannot hold.
   * Only under the lease of a RUNNING run; with a lost lease it saves nothing, and an event records that.
   */
  checkpointTaskRun(lease: Lease, state: string): Promise<'saved' | 'lease-lost'>

  /**
   * Writes log lines of many runs at once, one answer per lease: a lost lease writes nothing, and an event records
   * that.
   * Writes a repeated line once; keeps 10 000 lines per claim and 8 KiB per line; repairs facts that jsonb cannot hold.
   */
  appendTaskLogs(lines: readonly LogLine[]): Promise<LogAnswer[]>

  /**
   * Cancels runs: one that has not started becomes CANCELLED at once; for a RUNNING run it records the request and
   * wakes the holder.
   * A cancel loses against an outcome that is already written.
   */
  cancelTaskRuns(ids: readonly RunId[], detail?: string): Promise<CancelAnswer[]>

  /**
   * Expires runs that were not started before their deadline, a bounded number.
   * A claim skips them in any case.
   */
  expireTaskRuns(limit: number): Promise<RunId[]>

  /**
   * Fails runs that no live replica could serve for a grace period, a bounded number: FAILED `UNROUTABLE`.
   * Call it regularly: after a gap the grace period begins again.
   */
  failUnroutableTaskRuns(options: UnroutableOptions): Promise<RunId[]>

  /**
   * Starts a terminal run again, on request of a person: a new epoch, both counts at zero, its history kept.
   * Refused while another live run has its unique key.
   */
  retryTaskRun(id: RunId): Promise<RetryAnswer>

  /**
   * Removes runs that ended long enough ago and that nothing refers to, with all rows about them.
   * Reads a bounded number of rows; continue at `next` until it is undefined.
   */
  pruneTaskRuns(request: PruneRequest): Promise<{ pruned: number; next: RunId | undefined }>

  // ---- Gates

  /**
   * Sets how many runs of one concurrency key of the scope may be live; 1 by default.
   * A lower limit stops no run: no run follows until fewer than the new limit are live.
   */
  setConcurrencyLimit(scope: string, slots: number): Promise<void>

  /**
   * Sets how many shares of its queue a group gets when runs are claimed; 1 by default.
   * Each replica applies it from its next look on.
   */
  setGroupWeight(group: { queue: string; group: string }, weight: number): Promise<void>

  /**
   * Pauses a queue: claims skip it.
   * Rewrites none of its runs.
   */
  pauseQueue(queue: string, by: string, reason?: string): Promise<void>

  /**
   * Resumes a queue: claims read it again.
   * A queue that was not paused does not change.
   */
  resumeQueue(queue: string): Promise<void>
}

export function runVerbs(db: Kysely<DB>): RunVerbs {
  const walk = newKeyCursor()
  return {
    internLane: (lane) => internLane(db, lane),
    enqueueTaskRuns: (runs, options) => enqueueTaskRuns(db, runs, options),
    enqueueUnderLease: (lease, runs) => enqueueUnderLease(db, lease, runs),
    promoteDueTaskRuns: (limit) => promoteDueTaskRuns(db, limit),
    promoteKeys: (keys) => promoteKeys(db, keys),
    sweepGatedKeys: (limit) => sweepGatedKeys(db, limit, walk),
    sweepTaskGate: () => sweepTaskGate(db),
    nextDueInMs: () => nextDueInMs(db),
    claimAvailableTaskRuns: (request) => claimAvailableTaskRuns(db, request),
    startTaskRuns: (leases) => startTaskRuns(db, leases),
    settleTaskRuns: (settlements, options) => settleTaskRuns(db, settlements, options),
    finishTaskRun: (lease, result) => finishTaskRun(db, lease, result),
    snoozeTaskRun: (lease, delayMs, tookMs) => snoozeTaskRun(db, lease, delayMs, tookMs),
    releaseTaskRuns: (leases, by, options) => releaseTaskRuns(db, leases, by, options),
    checkpointTaskRun: (lease, state) => checkpointTaskRun(db, lease, state),
    appendTaskLogs: (lines) => appendTaskLogs(db, lines),
    cancelTaskRuns: (ids, detail) => cancelTaskRuns(db, ids, detail),
    expireTaskRuns: (limit) => expireTaskRuns(db, limit),
    failUnroutableTaskRuns: (options) => failUnroutableTaskRuns(db, options),
    retryTaskRun: (id) => retryTaskRun(db, id),
    pruneTaskRuns: (request) => pruneTaskRuns(db, request),
    setConcurrencyLimit: (scope, slots) => setConcurrencyLimit(db, scope, slots),
    setGroupWeight: (group, weight) => setGroupWeight(db, group, weight),
    pauseQueue: (queue, by, reason) => pauseQueue(db, queue, by, reason),
    resumeQueue: (queue) => resumeQueue(db, queue),
  }
}
