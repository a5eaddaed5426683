/**
 * Writes for operating q: counts and samples that replicas write, and decisions of people. The contracts are here; the
 * file of each verb has its rules.
 */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { endAction, listActions, recordAction, type Action, type ActionEnd, type NewAction } from '../audit/actions.ts'
import { muteErrorGroup, type Mute } from '../errors/mute.ts'
import type { RunId } from '../lease.ts'
import { reviewRecoveries, type Review } from '../liveness/review.ts'
import { getOperation, listOperations, type Operation, type OperationKind } from '../operations/operation.ts'
import { rehearseCancel, rehearseRetry, rehearseReview } from '../operations/rehearse.ts'
import {
  previewOperation,
  requestOperation,
  type NewOperation,
  type OperationPreview,
  type PreviewRequest,
} from '../operations/request.ts'
import { stepOperations, type StepAnswer, type StepRequest } from '../operations/step.ts'
import { stopOperation } from '../operations/stop.ts'
import type { ListRequest, Page } from '../reads/page.ts'
import type { RunFilter } from '../reads/runs/run-filter.ts'
import type { CancelAnswer } from '../runs/cancel.ts'
import { enqueueAgain, type AgainRequest } from '../runs/enqueue-again.ts'
import type { RetryAnswer } from '../runs/retry.ts'
import { runScheduleNow } from '../schedules/run-now.ts'
import { flushTally, type Flush, type FlushAnswer } from '../tally/flush.ts'
import { foldTally } from '../tally/fold.ts'
import { pruneOperate, type OperatePruneRequest } from '../tally/prune.ts'
import { recoveredRuns, type RecoveredRun } from '../tally/recovered-runs.ts'
import { sampleQueues } from '../tally/sample-queues.ts'

export interface OperateVerbs {
  // ---- Counts and samples, written by replicas

  /**
   * Adds the counts of a replica since its last flush to the tally of the minute and to the error groups. A flush that
   * is sent again with its number adds nothing.
   */
  flushTally(flush: Flush): Promise<FlushAnswer>

  /**
   * Returns the effect of the last recovery of each of these runs, for the counts of the replica that recovered them.
   * Runs that were never recovered are left out.
   */
  recoveredRuns(ids: readonly RunId[]): Promise<RecoveredRun[]>

  /** Samples the length of each queue, by bounded counts. Returns the number of queues. */
  sampleQueues(): Promise<number>

  /**
   * Folds minutes of the tally that are older than a day into hours, a bounded number.
   * Returns how many; fewer than `limit` means that none is left.
   */
  foldTally(limit: number): Promise<number>

  /**
   * Removes old counts, samples, gaps between heartbeats, error groups, ended operations and actions.
   * Returns the largest number of rows removed of one kind; fewer than `limit` means that none is left.
   */
  pruneOperate(request: OperatePruneRequest): Promise<number>

  // ---- What people decide

  /**
   * Marks recoveries as reviewed, by recovery or by run: a person accepts what the recovery did to the run.
   * Returns how many recoveries were not reviewed before.
   */
  reviewRecoveries(review: Review): Promise<number>

  /**
   * Mutes an error group for a time, so that it needs no attention; null unmutes it.
   * Its errors are still counted.
   */
  muteErrorGroup(fingerprint: string, mute: Mute | null): Promise<'muted' | 'unmuted' | 'not-found'>

  /**
   * Enqueues a new run like an old one, with the same payload or another (JSON text); the old run does not change.
   * Throws if the payload does not fit, if the old run is a step, or if a live run has its unique key.
   */
  enqueueAgain(id: RunId, request: AgainRequest): Promise<{ runId: RunId } | 'not-found'>

  /**
   * Enqueues one run of a schedule at once, in addition to its ticks.
   * A paused schedule stays paused.
   */
  runScheduleNow(name: string, request: { readonly by: string }): Promise<{ runId: RunId } | 'not-found'>

  // ---- Operations on all runs that match

  /**
   * Counts the runs that an operation would apply to, up to a bound, and returns the newest three of them.
   * Reads a bounded number of runs, newest first, and returns how far back; the operation reads all. Changes nothing.
   */
  previewOperation(kind: OperationKind, filter: RunFilter, request?: PreviewRequest): Promise<OperationPreview>

  /**
   * Returns what `retryTaskRun` would answer for each run, in the order given.
   * Rolls every change back.
   */
  rehearseRetry(ids: readonly RunId[]): Promise<RetryAnswer[]>

  /**
   * Returns what `cancelTaskRuns` would answer for each run, in the order given.
   * Rolls every change back.
   */
  rehearseCancel(ids: readonly RunId[]): Promise<CancelAnswer[]>

  /**
   * Returns how many recoveries of these runs `reviewRecoveries` would mark.
   * Rolls every change back.
   */
  rehearseReview(runIds: readonly RunId[]): Promise<number>

  /**
   * Requests an operation. Replicas execute it in steps; runs that are enqueued or end later do not change.
   * `retry` without a status applies to FAILED runs.
   */
  requestOperation(operation: NewOperation): Promise<Operation>

  /**
   * Executes one step of the oldest open operation that no other holder has; commits it together with the progress.
   * Safe with many callers at once; after a death the next holder continues when the lease has expired.
   */
  stepOperations(request: StepRequest): Promise<StepAnswer>

  /**
   * Ends an operation between two steps; its changes stay.
   * Returns `ended` if it had ended before.
   */
  stopOperation(id: string): Promise<'stopping' | 'ended' | 'not-found'>

  /**
   * Returns one operation with its progress.
   * Undefined if there is none with this id, or it was pruned.
   */
  getOperation(id: string): Promise<Operation | undefined>

  /**
   * Returns operations with their progress, newest first.
   * In pages.
   */
  listOperations(request?: ListRequest): Promise<Page<Operation>>

  // ---- Audit

  /**
   * Records an action of a person on the page, the HTTP API or the command line, and returns its id.
   * Call it before the action begins, with the answer `asked`: so no action happens without a row.
   */
  recordAction(action: NewAction): Promise<string>

  /** Completes the row of an action that has ended, with its answer. */
  endAction(id: string, end: ActionEnd): Promise<void>

  /**
   * Returns the actions of people, newest first.
   * In pages.
   */
  listActions(request?: ListRequest): Promise<Page<Action>>
}

export function operateVerbs(db: Kysely<DB>): OperateVerbs {
  return {
    flushTally: (flush) => flushTally(db, flush),
    recoveredRuns: (ids) => recoveredRuns(db, ids),
    sampleQueues: () => sampleQueues(db),
    foldTally: (limit) => foldTally(db, limit),
    pruneOperate: (request) => pruneOperate(db, request),
    reviewRecoveries: (review) => reviewRecoveries(db, review),
    muteErrorGroup: (fingerprint, mute) => muteErrorGroup(db, fingerprint, mute),
    enqueueAgain: (id, request) => enqueueAgain(db, id, request),
    runScheduleNow: (name, request) => runScheduleNow(db, name, request),
    previewOperation: (kind, filter, request) => previewOperation(db, kind, filter, request),
    rehearseRetry: (ids) => rehearseRetry(db, ids),
    rehearseCancel: (ids) => rehearseCancel(db, ids),
    rehearseReview: (runIds) => rehearseReview(db, runIds),
    requestOperation: (operation) => requestOperation(db, operation),
    stepOperations: (request) => stepOperations(db, request),
    stopOperation: (id) => stopOperation(db, id),
    getOperation: (id) => getOperation(db, id),
    listOperations: (request) => listOperations(db, request),
    recordAction: (action) => recordAction(db, action),
    endAction: (id, end) => endAction(db, id, end),
    listActions: (request) => listActions(db, request),
  }
}
