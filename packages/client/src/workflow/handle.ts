/** A workflow that was started, as its producer sees it. */
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
  /** Its output. Throws WorkflowFailed if it ended otherwise, WAIT_TIMED_OUT if it has not ended in time. */
  result(options?: ResultOptions): Promise<Output>
  /** As it is now, and how many of its steps are in which state. */
  status(): Promise<WorkflowView>
  /** Its steps as they are now, parents before children; at most 1 000, go on with `{ after: last.runId }`. */
  steps(page?: StepPageRequest): Promise<StepView[]>
  /** What changed, whenever something did; the last value is the final state. Looks about once a second. */
  progress(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<WorkflowProgress>
  /** What has not begun is CANCELLED, what runs is told to stop; then compensations run, and it ends CANCELLED. */
  cancel(): Promise<CancelWorkflowAnswer>
  /** Nothing new begins; what runs goes on. `by`: who did it, for people. */
  pause(by?: string): Promise<PauseAnswer>
  resume(): Promise<ResumeAnswer>
  /** Steps that failed begin again, and those that were skipped for them. A paused workflow goes on. */
  retryFailed(): Promise<RetryWorkflowAnswer>
}

export interface WorkflowProgress {
  readonly status: WorkflowView['status']
  /** How it is going to end, if that is decided while steps still run. */
  readonly endsAs: WorkflowView['endsAs']
  readonly compensating: boolean
  /** Steps that have ended. */
  readonly ended: number
  /** Steps there are so far: a map adds its items when it begins. */
  readonly total: number
  /** How many are in which state. */
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
    endedIn: (wake) => wake.workflowIds,
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
    progress: ({ signal } = {}) =>
      follow(waits, id, signal, { tell: progressOf, isOver, notFound: () => notFound(id) }),
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
    why: 'Ids are positive whole numbers.',
    fix: 'Use the id that start returned.',
  })
}

function notFound(id: WorkflowId): ExplainedError {
  return new ExplainedError({
    code: 'WORKFLOW_NOT_FOUND',
    what: `There is no workflow ${id}.`,
    why: 'It was never started in this database, or its transaction was rolled back, or it was pruned.',
    fix: 'Check the id and the database.',
  })
}
