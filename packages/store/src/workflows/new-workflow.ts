/** What somebody who starts a workflow gives, and what they are told. */
import type { WorkflowPlan } from '@q/schema/workflow'
import type { RunId } from '../lease.ts'

/** Of a workflow: a bigint in the database, decimal text here. */
export type WorkflowId = string & { readonly brand: 'WorkflowId' }

/** Undefined when the text cannot be the id of a workflow. */
export function asWorkflowId(text: string): WorkflowId | undefined {
  return /^[1-9]\d{0,17}$/.test(text) ? (text as WorkflowId) : undefined
}

export interface WorkflowStart {
  readonly plan: WorkflowPlan
  /** The value itself; at most 1 MiB as JSON. */
  readonly input: unknown
  /** Every task the plan names (`tasksOfPlan`), as replicas published it. */
  readonly tasks: Readonly<Record<string, StepTask>>
}

/** What is known about a task, for all runs of it that the workflow makes, now or later. */
export interface StepTask {
  /** `noLane`: no replica has published the task. Its steps wait at the gate `task`. */
  readonly lane: number
  readonly priority?: number
  readonly maxAttempts?: number
  readonly onCrash?: 'fail' | 'retry'
  /** `at`: the place in the payload that is the key. */
  readonly concurrency?: { readonly scope: string; readonly at: string }
}

export interface StartedWorkflow {
  readonly id: WorkflowId
  readonly steps: readonly { readonly name: string; readonly runId: RunId }[]
}

/** What `q.workflow.definition` holds: what is needed after the start. The steps are in their own table. */
export interface Definition {
  readonly output: WorkflowPlan['output'] | null
  readonly tasks: Readonly<Record<string, StepTask>>
}
