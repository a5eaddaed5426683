/** The producer's API for workflows. */
import type { WorkflowId, WorkflowView } from '@q/store'
import type { TransactionHandle } from '../transaction.ts'
import type { Waits } from '../waits.ts'
import { createWorkflowHandle, workflowIdOf, type WorkflowHandle } from './handle.ts'
import { createStart, type StartDeps } from './start.ts'
import type { Workflow } from './workflow.ts'

export interface StartOptions {
  /** The caller's own transaction: the workflow exists once it commits, and a rollback removes it. */
  readonly tx?: TransactionHandle
}

/** The input argument, omitted if the function of the workflow takes none. */
export type StartArguments<Input> = unknown extends Input
  ? [input?: Input, options?: StartOptions]
  : [input: Input, options?: StartOptions]

export interface ClientWorkflowVerbs {
  // ---- Workflows

  /**
   * Starts a workflow: writes all of its steps or none. It is durable when the promise resolves; with `tx`, when the caller's
   * transaction commits. Everything that can be checked is checked before anything is written.
   */
  start<Input, Output>(
    workflow: Workflow<Input, Output>,
    ...given: StartArguments<Input>
  ): Promise<WorkflowHandle<Output>>

  /**
   * Returns a handle for a workflow that was started elsewhere; the definition provides the type of the output.
   * It sends nothing: a missing workflow is reported by the handle's methods.
   */
  workflow<Output = unknown>(id: string, definition?: Workflow<never, Output>): WorkflowHandle<Output>
}

export interface WorkflowDeps extends StartDeps {
  readonly waits: Waits<WorkflowId, WorkflowView>
}

export function clientWorkflowVerbs(deps: WorkflowDeps): ClientWorkflowVerbs {
  const start = createStart(deps)
  return {
    async start({ plan }, ...[input, { tx } = {}]) {
      const { id } = await start(plan, input, tx)
      return createWorkflowHandle(deps, id)
    },
    workflow: (id) => createWorkflowHandle(deps, workflowIdOf(id)),
  }
}
