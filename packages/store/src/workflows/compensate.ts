/**
 * Creates the compensations of steps that succeeded, as runs, one after the other in the reverse order of the steps'
 * ends. They are steps of their own kind: a workflow that is compensating still has open steps.
 */
import type { Compensation } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { insertEdges, insertSteps } from './insert-steps.ts'
import type { Definition, WorkflowId } from './new-workflow.ts'
import { compensationRow } from './step-rows.ts'
import type { PendingWakes } from './pending-wakes.ts'

interface FailedWorkflow {
  readonly id: WorkflowId
  readonly input: unknown
  readonly definition: Definition
}

/** Returns false if there is nothing to compensate. */
export async function beginCompensation(
  trx: Db,
  { id, input, definition }: FailedWorkflow,
  endsAs: 'FAILED' | 'CANCELLED',
  wakes: PendingWakes,
): Promise<boolean> {
  const { rows } = await sql<{ name: string; undo: string }>`
SELECT s.name, (s.plan -> 'compensate')::text AS undo FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id
WHERE s.workflow_id = ${id} AND s.plan ? 'compensate' AND r.status = 'SUCCEEDED'
ORDER BY r.finished_at DESC, r.id DESC`.execute(trx)
  if (rows.length === 0) return false
  const steps = rows.map(({ name, undo }, index) => ({
    row: compensationRow(name, JSON.parse(undo) as Compensation, index, { input, tasks: definition.tasks }),
    opens: index === 0,
    waitingOn: index === 0 ? 0 : 1,
  }))
  const ids = await insertSteps(trx, id, steps, wakes)
  const chain = ids.slice(1).flatMap((child, index) => {
    const parent = ids[index]
    return parent === undefined ? [] : [{ parent, child }]
  })
  await insertEdges(trx, chain)
  await sql`UPDATE q.workflow SET ends_as = ${endsAs}::q.workflow_status, compensated_at = clock_timestamp(),
    open_steps = ${ids.length}, updated_at = clock_timestamp() WHERE id = ${id}`.execute(trx)
  return true
}
