/**
 * A step that is a workflow: made when its parents have let the step go, which then waits for its end.
 * It is part of the same outermost workflow, so one lock covers both.
 */
import type { Template, WorkflowPlan } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Left } from '../runs/leave.ts'
import { waitAgain } from './map-items.ts'
import type { ReadyStep, WorkflowFacts } from './open.ts'
import { insertWorkflow } from './start.ts'
import { filledTemplate } from './step-values.ts'
import type { Tidings } from './tidings.ts'
import { endBuiltIns, type BuiltInEnd } from './built-in.ts'

/** Steps of it that ended at once. */
export async function startInner(trx: Db, step: ReadyStep, outer: WorkflowFacts, tidings: Tidings): Promise<Left[]> {
  const { workflow, input } = step.plan as { workflow: WorkflowPlan; input: Template }
  await sql`UPDATE q.workflow_step SET expanded = true WHERE run_id = ${step.id}`.execute(trx)
  // It has begun: a deadline for the beginning does not count any more.
  await sql`UPDATE q.task_run SET waiting_for = 'parents', waiting_on = 1, expires_at = NULL WHERE id = ${step.id}`.execute(
    trx,
  )
  const { text } = await filledTemplate(trx, outer, input)
  const filled = JSON.parse(text) as unknown
  const { tasks } = outer.definition
  const made = await insertWorkflow(
    trx,
    { plan: workflow, input: filled, tasks, parentRunId: step.id, rootId: outer.rootId },
    tidings,
  )
  return made.ended
}

/** For a step whose workflow has ended without it: held back at that moment, or a hand has changed one of them. */
export async function settleByInner(trx: Db, step: ReadyStep, _: WorkflowFacts, tidings: Tidings): Promise<Left[]> {
  const { rows } = await sql<BuiltInEnd>`
    SELECT parent_run_id AS id, status AS goal, coalesce(result, 'null')::text AS result FROM q.workflow
    WHERE parent_run_id = ${step.id} ORDER BY id DESC LIMIT 1`.execute(trx)
  const [end] = rows
  if (end === undefined || !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(end.goal)) return waitAgain(trx, step.id, 1)
  return endBuiltIns(trx, [end], tidings)
}
