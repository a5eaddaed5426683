/** What a producer can do with workflows. The contracts are here. */
import type { WorkflowId, WorkflowView } from '@q/store'
import type { TransactionHandle } from '../transaction.ts'
import type { Waits } from '../waits.ts'
import { createWorkflowHandle, workflowIdOf, type WorkflowHandle } from './handle.ts'
import { createStart, type StartDeps } from './start.ts'
import type { Workflow } from './workflow.ts'

export interface StartOptions {
  /** The caller's own transaction: the workflow is there with its commit, and a rollback leaves nothing. */
  readonly tx?: TransactionHandle
}

/** A workflow whose function takes no input needs none. */
export type StartArguments<Input> = unknown extends Input
  ? [input?: Input, options?: StartOptions]
  : [input: Input, options?: StartOptions]

export interface WorkflowVerbs {
  // ---- Workflows

  /**
   * The workflow with all its steps, or nothing of it. Durable when it resolves, or with `tx` as durable as the caller's
   * transaction. Everything that can be checked before is checked before anything is written.
   */
  start<Input, Output>(
    workflow: Workflow<Input, Output>,
    ...given: StartArguments<Input>
  ): Promise<WorkflowHandle<Output>>

  /**
   * A handle for a workflow started elsewhere; its definition gives the output its type.
   * Whether there is such a workflow is known when it is asked for something.
   */
  workflow<Output = unknown>(id: string, definition?: Workflow<never, Output>): WorkflowHandle<Output>
}

export interface WorkflowDeps extends StartDeps {
  readonly waits: Waits<WorkflowId, WorkflowView>
}

export function workflowVerbs(deps: WorkflowDeps): WorkflowVerbs {
  const start = createStart(deps)
  return {
    async start({ plan }, ...[input, { tx } = {}]) {
      const { id } = await start(plan, input, tx)
      return createWorkflowHandle(deps, id)
    },
    workflow: (id) => createWorkflowHandle(deps, workflowIdOf(id)),
  }
}
