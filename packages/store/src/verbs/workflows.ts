/** What can be done with workflows. The contracts are here; each law is in the file of its verb. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { RunId } from '../lease.ts'
import { getWorkflows, listSteps, type StepPageRequest, type StepView, type WorkflowView } from '../reads/workflow.ts'
import { awaitWorkflows } from '../workflows/await.ts'
import { cancelWorkflow, type CancelWorkflowAnswer } from '../workflows/cancel.ts'
import type { StartedWorkflow, WorkflowId, WorkflowStart } from '../workflows/new-workflow.ts'
import { pauseWorkflow, resumeWorkflow, type PauseAnswer, type ResumeAnswer } from '../workflows/pause.ts'
import { pruneWorkflows, type WorkflowPruneRequest } from '../workflows/prune.ts'
import { repairWorkflows, type Repaired, type RepairRequest } from '../workflows/repair.ts'
import { retryFailedSteps, type RetryWorkflowAnswer } from '../workflows/retry.ts'
import { startWorkflow } from '../workflows/start.ts'
import { stepPayloads } from '../workflows/step-values.ts'

export interface WorkflowVerbs {
  // ---- Workflows

  /**
   * Writes a workflow and all its steps, or nothing: the plan is checked as a whole before anything is sent.
   * With `startWorkflow(trx, start)` as part of a transaction of yours.
   */
  startWorkflow(start: WorkflowStart): Promise<StartedWorkflow>

  /**
   * Payloads of steps that are about to be started, the results of other steps filled in, as JSON text.
   * Steps without such places are not mentioned: their payload is complete. `INVALID_PAYLOAD`: one of them cannot be made.
   */
  stepPayloads(runIds: readonly RunId[]): Promise<Map<RunId, string>>

  /**
   * Nothing new begins in it, nor in its inner workflows; what runs goes on.
   * Its steps wait at the gate `workflow`.
   */
  pauseWorkflow(id: WorkflowId, by: string): Promise<PauseAnswer>

  /**
   * It goes on where it was held.
   * If all its steps ended meanwhile, it ends.
   */
  resumeWorkflow(id: WorkflowId): Promise<ResumeAnswer>

  /**
   * What has not begun is CANCELLED, what runs is asked to stop; then compensations run, and it ends CANCELLED.
   * One that is failing already ends FAILED.
   */
  cancelWorkflow(id: WorkflowId): Promise<CancelWorkflowAnswer>

  /**
   * Steps that did not succeed begin again in a new epoch, with those that were skipped for them; it is RUNNING again.
   * Not after its compensation has begun. `retryTaskRun` does the same for one step.
   */
  retryFailedSteps(id: WorkflowId): Promise<RetryWorkflowAnswer>

  /**
   * Heals workflows that contradict themselves, by hand-made changes or a restored backup, and says what was wrong.
   * Looks at a bounded number; go on at `next` until it is undefined. On the normal path it finds nothing.
   */
  repairWorkflows(request: RepairRequest): Promise<Repaired>

  /**
   * Removes workflows that ended long enough ago, each with all its steps, or not at all.
   * Looks at a bounded number; go on at `next` until it is undefined.
   */
  pruneWorkflows(request: WorkflowPruneRequest): Promise<{ pruned: number; next: WorkflowId | undefined }>

  /**
   * From now on the end of these workflows is announced on `q_ended`.
   * Listen first, then await, then look.
   */
  awaitWorkflows(ids: readonly WorkflowId[]): Promise<void>

  /**
   * Workflows by id: status, result, and how many steps are in which state.
   * Those that do not exist are left out.
   */
  getWorkflows(ids: readonly WorkflowId[]): Promise<WorkflowView[]>

  /**
   * The steps of a workflow, parents before children, with what each waits for.
   * At most 1 000 a page; go on after the last one.
   */
  listSteps(id: WorkflowId, page?: StepPageRequest): Promise<StepView[]>
}

export function workflowVerbs(db: Kysely<DB>): WorkflowVerbs {
  return {
    startWorkflow: (start) => startWorkflow(db, start),
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
