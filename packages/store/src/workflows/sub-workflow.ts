/**
 * A sub-workflow step: its workflow is created when the parents release the step, which then waits for its end.
 * It belongs to the same outermost workflow, so one lock covers both.
 */
import type { Template, WorkflowPlan } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transitioned } from '../runs/transition.ts'
import { waitAgain } from './map-items.ts'
import type { ReadyStep, WorkflowFacts } from './activate-steps.ts'
import { insertWorkflow } from './insert-workflow.ts'
import { filledTemplate } from './step-values.ts'
import type { PendingWakes } from './pending-wakes.ts'
import { endStructuralSteps, type StructuralStepEnd } from './structural-steps.ts'

/** Returns the steps of the sub-workflow that the caller must activate. */
export async function startSubWorkflow(
  trx: Db,
  step: ReadyStep,
  outer: WorkflowFacts,
  wakes: PendingWakes,
): Promise<readonly RunId[]> {
  const { workflow, input } = step.plan as { workflow: WorkflowPlan; input: Template }
  await sql`UPDATE q.workflow_step SET expanded = true WHERE run_id = ${step.id}`.execute(trx)
  // The step has begun, so its deadline to begin no longer applies.
  await sql`UPDATE q.task_run SET waiting_for = 'parents', waiting_on = 1, expires_at = NULL WHERE id = ${step.id}`.execute(
    trx,
  )
  const { text } = await filledTemplate(trx, outer, input)
  const filled = JSON.parse(text) as unknown
  const { tasks } = outer.definition
  const { toActivate } = await insertWorkflow(
    trx,
    { plan: workflow, input: filled, tasks, parentRunId: step.id, rootId: outer.rootId },
    wakes,
  )
  return toActivate
}

/** Ends a step whose workflow ended without it: the step was held at that time, or manual SQL changed one of them. */
export async function settleBySubWorkflow(trx: Db, step: ReadyStep, wakes: PendingWakes): Promise<Transitioned[]> {
  const { rows } = await sql<StructuralStepEnd>`
    SELECT parent_run_id AS id, status AS goal, coalesce(result, 'null')::text AS result FROM q.workflow
    WHERE parent_run_id = ${step.id} ORDER BY id DESC LIMIT 1`.execute(trx)
  const [end] = rows
  if (end === undefined || !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(end.goal)) return waitAgain(trx, step.id, 1)
  return endStructuralSteps(trx, [end], wakes)
}
