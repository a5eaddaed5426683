/**
 * Lists a bounded number of live workflows whose rows contradict each other, newest first. Changes nothing:
 * `repairWorkflows` repairs them.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { inconsistenciesIn, type Inconsistency } from '../workflows/inconsistencies.ts'
import type { WorkflowId } from '../workflows/new-workflow.ts'

const workflowsMax = 100

export async function workflowFaults(db: Db): Promise<Inconsistency[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
    SELECT id FROM q.workflow WHERE finished_at IS NULL ORDER BY id DESC LIMIT ${workflowsMax}`.execute(db)
  return inconsistenciesIn(
    db,
    rows.map((row) => row.id),
  )
}
