/** A workflow that ended, but not with its output; and which steps are to blame. */
import type { StepView, Store, WorkflowId, WorkflowView } from '@q/store'

export type FailedStep = Pick<StepView, 'name' | 'task' | 'runId' | 'status' | 'code'>

/** More are not told: `steps()` has them all. */
const toldMax = 20
const pageMax = 1_000

export class WorkflowFailed extends Error {
  override readonly name = 'WorkflowFailed'
  readonly workflow: WorkflowView
  /** That of the step to blame, or TASK_CANCELLED. */
  readonly code: string
  /** Steps that ended FAILED, CANCELLED or EXPIRED, also those that were tolerated; at most 20. */
  readonly failed: readonly FailedStep[]

  constructor(workflow: WorkflowView, failed: readonly FailedStep[]) {
    // What somebody wrote by hand may lack all of it.
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
    if (last === undefined || page.length < pageMax || found.length >= toldMax) return found.slice(0, toldMax)
    page = await store.listSteps(id, { after: last.runId, limit: pageMax })
  }
}
