/** The error of a workflow that ended without an output, with the steps that caused it. */
import type { StepView, Store, WorkflowId, WorkflowView } from '@q/store'

export type FailedStep = Pick<StepView, 'name' | 'task' | 'runId' | 'status' | 'code'>

/** The error lists at most this many steps; `steps()` returns all. */
const stepsShownMax = 20
const pageMax = 1_000

export class WorkflowFailed extends Error {
  override readonly name = 'WorkflowFailed'
  readonly workflow: WorkflowView
  /** The code of the step that caused the failure, or TASK_CANCELLED. */
  readonly code: string
  /** Steps that ended FAILED, CANCELLED or EXPIRED, including tolerated ones; at most 20. */
  readonly failed: readonly FailedStep[]

  constructor(workflow: WorkflowView, failed: readonly FailedStep[]) {
    // A result that manual SQL wrote may lack all of these.
    const { code = 'RESULT_NOT_AVAILABLE', detail = '' } = (workflow.result ?? {}) as Partial<Record<string, string>>
    super(`Workflow ${workflow.id} (${workflow.name}) ended ${workflow.status} (${code}): ${detail}`)
    this.workflow = workflow
    this.code = code
    this.failed = failed
  }
}

export async function failedSteps(store: Store, id: WorkflowId): Promise<FailedStep[]> {
  const found: FailedStep[] = []
  let page = await store.listSteps(id, { limit: pageMax })
  for (;;) {
    for (const { name, task, runId, status, code } of page) {
      if (status === 'FAILED' || status === 'CANCELLED' || status === 'EXPIRED')
        found.push({ name, task, runId, status, code })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageMax || found.length >= stepsShownMax)
      return found.slice(0, stepsShownMax)
    page = await store.listSteps(id, { after: last.runId, limit: pageMax })
  }
}
