/** Inserts a workflow and all its steps, for `startWorkflow` and for sub-workflow steps. */
import { checkPlan, parentsOf } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { insertEdges, insertSteps } from './insert-steps.ts'
import type { Definition, StartedWorkflow, WorkflowId, WorkflowStart } from './new-workflow.ts'
import type { PendingWakes } from './pending-wakes.ts'
import { rowOf } from './step-rows.ts'

interface Insertion extends WorkflowStart {
  readonly parentRunId?: RunId
  readonly rootId?: WorkflowId
}

/** `toActivate`: steps without parents that cannot be claimed as inserted; the caller activates them (activate-steps.ts). */
export async function insertWorkflow(
  trx: Db,
  start: Insertion,
  wakes: PendingWakes,
): Promise<StartedWorkflow & { readonly toActivate: readonly RunId[] }> {
  const { plan, tasks, input } = start
  const checked = checkPlan(plan)
  if (!checked.ok) throw new Error(`A workflow that passed its check is invalid: ${checked.problems.join('. ')}`)
  const id = await insertRow(trx, start)
  const steps = checked.order.map((step) => {
    const parents = parentsOf(step).length
    const row = rowOf(step, parents, { input, tasks })
    const opens = parents === 0 && step.kind === 'task' && !row.conditional
    return { row, opens, waitingOn: row.needs }
  })
  const ids = await insertSteps(trx, id, steps, wakes)
  const byName = new Map(checked.order.map((step, index) => [step.name, ids[index] as RunId]))
  const edges = checked.order.flatMap((step) =>
    parentsOf(step).map((parent) => ({ parent: byName.get(parent) as RunId, child: byName.get(step.name) as RunId })),
  )
  await insertEdges(trx, edges)
  const toActivate = steps.flatMap(({ row, opens }, index) => (row.needs === 0 && !opens ? (ids[index] ?? []) : []))
  return { id, steps: [...byName].map(([name, runId]) => ({ name, runId })), toActivate }
}

async function insertRow(trx: Db, { plan, input, tasks, trace, parentRunId, rootId }: Insertion): Promise<WorkflowId> {
  const definition: Definition = { output: plan.output ?? null, tasks, ...(trace !== undefined && { trace }) }
  const { rows } = await sql<{ id: WorkflowId }>`
INSERT INTO q.workflow (name, on_error, input, definition, open_steps, parent_run_id, root_id)
VALUES (${plan.name}, ${plan.onError ?? 'fail'}::q.on_error, ${JSON.stringify(input ?? null)}::text::jsonb, ${JSON.stringify(definition)}::text::jsonb,
  ${plan.steps.length}, ${parentRunId ?? null}, ${rootId ?? null})
RETURNING id::text AS id`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('The insert of a workflow returned no id.')
  return row.id
}
