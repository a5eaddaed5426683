/** The input and the answer of `startWorkflow`, and how the database stores them. */
import type { WorkflowPlan } from '@q/schema/workflow'
import { sql, type RawBuilder } from 'kysely'
import { isId, type RunId } from '../lease.ts'

/** Id of a workflow: a bigint in the database, decimal text here. */
export type WorkflowId = string & { readonly brand: 'WorkflowId' }

/** Returns undefined if the text cannot be the id of a workflow. */
export function asWorkflowId(text: string): WorkflowId | undefined {
  return isId(text) ? (text as WorkflowId) : undefined
}

export interface WorkflowStart {
  readonly plan: WorkflowPlan
  /** The input value, at most 1 MiB as JSON. */
  readonly input: unknown
  /** Every task that the plan names (`tasksOfPlan`), as published by replicas. */
  readonly tasks: Readonly<Record<string, StepTask>>
  /** Trace context of the caller, for all steps. */
  readonly trace?: string
}

/** The options of a task, for all its runs that the workflow creates, now or later. */
export interface StepTask {
  /** `noLane`: no replica has published the task. Its steps wait at the gate `task`. */
  readonly lane: number
  readonly priority?: number
  readonly maxAttempts?: number
  readonly onCrash?: 'fail' | 'retry'
  /** `at`: the pointer in the payload to the key. */
  readonly concurrency?: { readonly scope: string; readonly at: string }
}

export interface StartedWorkflow {
  readonly id: WorkflowId
  readonly steps: readonly { readonly name: string; readonly runId: RunId }[]
}

/** The content of `q.workflow.definition`: what is needed after the start. The steps are in their own table. */
export interface Definition {
  readonly output: WorkflowPlan['output'] | null
  readonly tasks: Readonly<Record<string, StepTask>>
  /** Read by claims of replicas that record spans. */
  readonly trace?: string
}

/** Columns of q.workflow as JSON text: the library of a caller's transaction may change the members of JSON that it parses. */
export const inputAndDefinition: RawBuilder<unknown> = sql`input::text AS input, definition::text AS definition`

/** A row with these columns. */
export type Written<Row> = Omit<Row, 'input' | 'definition'> & { readonly input: string; readonly definition: string }

export function parsed<Row>({ input, definition, ...row }: Written<Row>): Row {
  return { ...row, input: JSON.parse(input) as unknown, definition: JSON.parse(definition) as Definition } as Row
}
