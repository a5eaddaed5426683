/** A handle for one workflow: wait for its output, read its steps, pause, cancel or retry it. */
import { ExplainedError } from '@q/schema'
import {
  asWorkflowId,
  type CancelWorkflowAnswer,
  type PauseAnswer,
  type ResumeAnswer,
  type RetryWorkflowAnswer,
  type StepPageRequest,
  type StepView,
  type Store,
  type WorkflowId,
  type WorkflowView,
} from '@q/store'
import { waitFor, type ResultOptions } from '../handle.ts'
import { follow } from '../progress.ts'
import type { Awaitable, Waits } from '../waits.ts'
import { failedSteps, WorkflowFailed } from './failed.ts'

export interface WorkflowHandle<Output> {
  readonly id: WorkflowId
  /** The output. Rejects with `WorkflowFailed` if the workflow ended otherwise, with `WAIT_TIMED_OUT` if it has not ended in time. */
  result(options?: ResultOptions): Promise<Output>
  /** The current state, with the number of steps in each state. */
  status(): Promise<WorkflowView>
  /** The current steps, parents before children, at most 1 000. Continue with `{ after: last.runId }`. */
  steps(page?: StepPageRequest): Promise<StepView[]>
  /** Yields the progress when it changes. Polls about once a second; the last value is the final state. */
  progress(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<WorkflowProgress>
  /** Cancels steps that have not begun and stops running ones; then compensations run, and the workflow ends CANCELLED. */
  cancel(): Promise<CancelWorkflowAnswer>
  /** Starts no new steps; running steps continue. `by` names the person or program, for the record. */
  pause(by?: string): Promise<PauseAnswer>
  resume(): Promise<ResumeAnswer>
  /** Starts failed steps again, and the steps that were skipped because of them. Resumes a paused workflow. */
  retryFailed(): Promise<RetryWorkflowAnswer>
}

export interface WorkflowProgress {
  readonly status: WorkflowView['status']
  /** The final state, if it is decided while steps are still running. */
  readonly endsAs: WorkflowView['endsAs']
  readonly compensating: boolean
  /** The number of steps that have ended. */
  readonly ended: number
  /** The number of steps so far: a map adds its items when it begins. */
  readonly total: number
  /** The number of steps in each state. */
  readonly steps: WorkflowView['steps']
}

export interface WorkflowHandleDeps {
  readonly store: Store
  readonly waits: Waits<WorkflowId, WorkflowView>
}

export function workflowsToWaitFor(store: Store): Awaitable<WorkflowId, WorkflowView> {
  return {
    mark: (ids) => store.awaitWorkflows(ids),
    read: (ids) => store.getWorkflows(ids),
    endedIn: (wake) => wake.workflows,
    isOver,
  }
}

function isOver({ finishedAt }: WorkflowView): boolean {
  return finishedAt !== null
}

export function createWorkflowHandle<Output>(
  { store, waits }: WorkflowHandleDeps,
  id: WorkflowId,
): WorkflowHandle<Output> {
  return {
    id,
    async result(options = {}) {
      const workflow = await waitFor(waits, id, options, `Workflow ${id}`)
      if (workflow === undefined) throw notFound(id)
      if (workflow.status !== 'SUCCEEDED') throw new WorkflowFailed(workflow, await failedSteps(store, id))
      return workflow.result as Output
    },
    async status() {
      const [workflow] = await store.getWorkflows([id])
      if (workflow === undefined) throw notFound(id)
      return workflow
    },
    steps: (page) => store.listSteps(id, page),
    progress: ({ signal } = {}) => follow(waits, id, signal, { progressOf, isOver, notFound: () => notFound(id) }),
    cancel: () => store.cancelWorkflow(id),
    pause: (by = 'a producer') => store.pauseWorkflow(id, by),
    resume: () => store.resumeWorkflow(id),
    retryFailed: () => store.retryFailedSteps(id),
  }
}

function progressOf({ status, endsAs, compensating, progress, steps }: WorkflowView): WorkflowProgress {
  return { status, endsAs, compensating, ...progress, steps }
}

export function workflowIdOf(text: string): WorkflowId {
  const id = asWorkflowId(text)
  if (id !== undefined) return id
  throw new ExplainedError({
    code: 'WORKFLOW_ID_INVALID',
    what: `"${text}" is not the id of a workflow.`,
    why: 'Workflow ids are positive integers.',
    fix: 'Use the id that start returned.',
  })
}

function notFound(id: WorkflowId): ExplainedError {
  return new ExplainedError({
    code: 'WORKFLOW_NOT_FOUND',
    what: `There is no workflow ${id}.`,
    why: 'It was never started in this database, its transaction was rolled back, or it was pruned.',
    fix: 'Check the id and the database.',
  })
}
