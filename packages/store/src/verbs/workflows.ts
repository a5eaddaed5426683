/** Workflows: the contracts of the verbs. The rules of each verb are in its own file. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { RunId } from '../lease.ts'
import {
  getWorkflows,
  listSteps,
  type StepPageRequest,
  type StepView,
  type WorkflowView,
} from '../reads/workflows/workflow.ts'
import { awaitWorkflows } from '../workflows/await.ts'
import { cancelWorkflow, type CancelWorkflowAnswer } from '../workflows/cancel.ts'
import type { StartedWorkflow, WorkflowId, WorkflowStart } from '../workflows/new-workflow.ts'
import { pauseWorkflow, resumeWorkflow, type PauseAnswer, type ResumeAnswer } from '../workflows/pause.ts'
import { pruneWorkflows, type WorkflowPruneRequest } from '../workflows/prune.ts'
import { repairWorkflows, type RepairResult, type RepairRequest } from '../workflows/repair.ts'
import { retryFailedSteps, type RetryWorkflowAnswer } from '../workflows/retry.ts'
import { startWorkflow, type StartWorkflowOptions } from '../workflows/start.ts'
import { stepPayloads } from '../workflows/step-values.ts'

export interface WorkflowVerbs {
  // ---- Workflows

  /**
   * Inserts a workflow and all its steps, or nothing: checks the plan as a whole before it sends anything.
   * Call `startWorkflow(trx, start)` to make it part of your own transaction.
   */
  startWorkflow(start: WorkflowStart, options?: StartWorkflowOptions): Promise<StartedWorkflow>

  /**
   * Returns the payloads of steps that are about to start, with the results of other steps filled in, as JSON text.
   * Leaves out steps whose payload is complete. Throws `INVALID_PAYLOAD` if one of the payloads cannot be built.
   */
  stepPayloads(runIds: readonly RunId[]): Promise<Map<RunId, string>>

  /**
   * Pauses a workflow and its sub-workflows: no further step starts; running steps continue. Its steps wait at the gate
   * `workflow`.
   */
  pauseWorkflow(id: WorkflowId, by: string): Promise<PauseAnswer>

  /**
   * Resumes a workflow where it was held.
   * If all its steps ended in the meantime, it ends.
   */
  resumeWorkflow(id: WorkflowId): Promise<ResumeAnswer>

  /**
   * Cancels a workflow: unstarted steps become CANCELLED, running steps are asked to stop; then compensations run, and
   * it ends CANCELLED.
   * A workflow that is already failing ends FAILED.
   */
  cancelWorkflow(id: WorkflowId): Promise<CancelWorkflowAnswer>

  /**
   * Starts steps that did not succeed, and the steps skipped because of them, again in a new epoch; the workflow is
   * RUNNING again.
   * Refused once its compensation has begun. `retryTaskRun` does the same for one step.
   */
  retryFailedSteps(id: WorkflowId): Promise<RetryWorkflowAnswer>

  /**
   * Repairs workflows whose rows contradict each other after manual changes or a restored backup, and returns what was
   * wrong.
   * Reads a bounded number; continue at `next` until it is undefined. In normal operation it finds nothing.
   */
  repairWorkflows(request: RepairRequest): Promise<RepairResult>

  /**
   * Removes workflows that ended long enough ago, each with all its steps, or not at all.
   * Reads a bounded number; continue at `next` until it is undefined.
   */
  pruneWorkflows(request: WorkflowPruneRequest): Promise<{ pruned: number; next: WorkflowId | undefined }>

  /**
   * From now on, announces the end of these workflows on `q_outcome`, with their statuses.
   * Listen first, then call it, then read the workflows.
   */
  awaitWorkflows(ids: readonly WorkflowId[]): Promise<void>

  /**
   * Returns workflows by id: status, result, and how many steps are in which state.
   * Leaves out ids that do not exist.
   */
  getWorkflows(ids: readonly WorkflowId[]): Promise<WorkflowView[]>

  /**
   * Returns the steps of a workflow, parents before children, with what each waits for.
   * At most 1 000 per page; continue after the last one.
   */
  listSteps(id: WorkflowId, page?: StepPageRequest): Promise<StepView[]>
}

export function workflowVerbs(db: Kysely<DB>): WorkflowVerbs {
  return {
    startWorkflow: (start, options) => startWorkflow(db, start, options),
    stepPayloads: (runIds) => stepPayloads(db, runIds),
    pauseWorkflow: (id, by) => pauseWorkflow(db, id, by),
    resumeWorkflow: (id) => resumeWorkflow(db, id),
    cancelWorkflow: (id) => cancelWorkflow(db, id),
    retryFailedSteps: (id) => retryFailedSteps(db, id),
    repairWorkflows: (request) => repairWorkflows(db, request),
    pruneWorkflows: (request) => pruneWorkflows(db, request),
    awaitWorkflows: (ids) => awaitWorkflows(db, ids),
    getWorkflows: (ids) => getWorkflows(db, ids),
    listSteps: (id, page) => listSteps(db, id, page),
  }
}
