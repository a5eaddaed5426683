/** What can be done with runs, from enqueue to end, and with the gates that hold them back. The contracts are here; each law is in the file of its verb. */
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
import { enqueueTaskRuns, type EnqueueOptions } from '../runs/enqueue.ts'
import { enqueueUnderLease } from '../runs/enqueue-under-lease.ts'
import { expireTaskRuns } from '../runs/expire.ts'
import { failUnroutableTaskRuns, type UnroutableOptions } from '../runs/unroutable.ts'
import type { EnqueuedRun, NewRun } from '../runs/new-run.ts'
import { newKeyWalk, nextDueInMs, promoteDueTaskRuns, promoteKeys, sweepGatedKeys } from '../runs/promote.ts'
import { sweepTaskGate } from '../tasks/open-gate.ts'
import { pruneTaskRuns, type PruneRequest } from '../runs/prune.ts'
import { releaseTaskRuns } from '../runs/release.ts'
import { retryTaskRun, type RetryAnswer } from '../runs/retry.ts'
import { finishTaskRun, settleTaskRuns, type Settled, type Settlement, type SettleOptions } from '../runs/settle.ts'
import { snoozeTaskRun } from '../runs/snooze.ts'
import { startTaskRuns } from '../runs/start.ts'

export interface RunVerbs {
  // ---- Runs: from enqueue to end

  /**
   * The number of a lane (queue, task, required capabilities); made if it is new.
   * On a connection of our own, never in a caller's transaction.
   */
  internLane(lane: LaneName): Promise<number>

  /**
   * Makes runs durable, all of a batch or none. Payloads, names, keys and numbers are checked before anything is sent.
   * Answers in the order asked; the run that has the unique key, while it lives or for a period, instead of a new one.
   */
  enqueueTaskRuns(runs: readonly NewRun[], options?: EnqueueOptions): Promise<EnqueuedRun[]>

  /**
   * The same for runs that the code of a RUNNING run enqueues, under the lease of that run.
   * A lost lease inserts nothing, and an event records that.
   */
  enqueueUnderLease(lease: Lease, runs: readonly NewRun[]): Promise<EnqueuedRun[] | 'lease-lost'>

  /**
   * Opens the gate `time` for runs whose hour has come, a bounded number, oldest first.
   * Safe to do by many at once.
   */
  promoteDueTaskRuns(limit: number): Promise<{ ids: RunId[]; looked: number }>

  /**
   * Gives the slots of concurrency keys to the most urgent runs that can start now.
   * Needed after a commit that freed or asked for a slot; `sweepGatedKeys` is the backstop.
   */
  promoteKeys(keys: readonly string[]): Promise<RunId[]>

  /**
   * `promoteKeys` for keys that runs wait for, and for keys held by runs that cannot start; a bounded number.
   * Needed after a process died between a commit and its promotion, and after replicas died or started.
   */
  sweepGatedKeys(limit: number): Promise<RunId[]>

  /**
   * Opens the gate `task` for runs of tasks that have been published since they were enqueued.
   * `publishTasks` does it too; the sweep finds runs of an enqueue that did not see the publication and committed after it.
   */
  sweepTaskGate(): Promise<RunId[]>

  /**
   * When the next run at the gate `time` is due, by the database's clock.
   * Undefined: none waits.
   */
  nextDueInMs(): Promise<number | undefined>

  /**
   * Takes runs, never more than asked for, to RUNNING or, `ahead`, to CLAIMED: by priority, fair shares, then age.
   * Each has a new fence: (id, fence) is the lease every later write must show.
   */
  claimAvailableTaskRuns(request: ClaimRequest): Promise<ClaimedRun[]>

  /**
   * CLAIMED to RUNNING, committed before the code begins.
   * Ids of those that may be executed; the other leases are lost, or their runs expired.
   */
  startTaskRuns(leases: readonly Lease[]): Promise<RunId[]>

  /**
   * What came of attempts: success, failure (again later, if attempts are left), cancelled. One answer each, in order;
   * one bad row fails alone. Told again under the same lease it is a success that changes nothing.
   */
  settleTaskRuns(settlements: readonly Settlement[], options?: SettleOptions): Promise<Settled[]>

  /**
   * A run's own code ends it inside its own transaction: its effects and its end are one.
   * With `finishTaskRun(trx, lease, result)`; the runner then finds it settled.
   */
  finishTaskRun(lease: Lease, result: unknown): Promise<'settled' | 'lease-lost'>

  /**
   * Back to PENDING until later; the attempt does not count.
   * A concurrency key it held goes to the next run. `tookMs`: how long the code ran.
   */
  snoozeTaskRun(lease: Lease, delayMs: number, tookMs?: number): Promise<'snoozed' | 'cancelled' | 'lease-lost'>

  /**
   * Given back by the holder: AVAILABLE, the attempt returned, the fence raised.
   * Ids of those that were still held under their lease.
   */
  releaseTaskRuns(leases: readonly Lease[], by?: Settlement['by'], options?: SettleOptions): Promise<RunId[]>

  /**
   * Saves JSON text, at most 1 MiB, that a later attempt continues from. What jsonb cannot hold is refused with a code.
   * Only under the lease of a RUNNING run; a lost one saves nothing, and that is noted.
   */
  checkpointTaskRun(lease: Lease, state: string): Promise<'saved' | 'lease-lost'>

  /**
   * Writes what code logged, of many runs at once, one answer per lease: a lost one writes nothing, and that is noted.
   * A line told twice is written once; of a claim 10 000 lines are kept, of a line 8 KiB; strange facts are repaired.
   */
  appendTaskLogs(lines: readonly LogLine[]): Promise<LogAnswer[]>

  /**
   * What has not started is CANCELLED at once; for what runs the wish is recorded, and its holder told.
   * A cancel that races with an outcome already reached loses.
   */
  cancelTaskRuns(ids: readonly RunId[], detail?: string): Promise<CancelAnswer[]>

  /**
   * Ends runs that were not started before their deadline, a bounded number.
   * A claim passes over them anyway.
   */
  expireTaskRuns(limit: number): Promise<RunId[]>

  /**
   * Fails runs that no live replica could serve for a grace, a bounded number: FAILED `UNROUTABLE`.
   * Call it regularly: after a gap the grace begins again.
   */
  failUnroutableTaskRuns(options: UnroutableOptions): Promise<RunId[]>

  /**
   * By hand: a terminal run begins again in a new epoch, both counts at zero, its history kept.
   * Refused while another live run has its unique key.
   */
  retryTaskRun(id: RunId): Promise<RetryAnswer>

  /**
   * Removes runs that ended long enough ago and that nobody needs, with all that is written about them.
   * Looks at a bounded number of rows; go on at `next` until it is undefined.
   */
  pruneTaskRuns(request: PruneRequest): Promise<{ pruned: number; next: RunId | undefined }>

  // ---- Gates

  /**
   * How many runs of one concurrency key of the scope may be live; 1 unless set.
   * Lowered, nobody is stopped: no run follows until fewer than the new limit are live.
   */
  setConcurrencyLimit(scope: string, slots: number): Promise<void>

  /**
   * How many shares of its queue a group gets when runs are claimed; 1 unless set.
   * From the next look of each replica on.
   */
  setGroupWeight(group: { queue: string; group: string }, weight: number): Promise<void>

  /**
   * Claims pass over the queue as a whole.
   * None of its runs is rewritten.
   */
  pauseQueue(queue: string, by: string): Promise<void>

  /**
   * Claims see the queue again.
   * A queue that was not paused stays as it is.
   */
  resumeQueue(queue: string): Promise<void>
}

export function runVerbs(db: Kysely<DB>): RunVerbs {
  const walk = newKeyWalk()
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
    pauseQueue: (queue, by) => pauseQueue(db, queue, by),
    resumeQueue: (queue) => resumeQueue(db, queue),
  }
}
