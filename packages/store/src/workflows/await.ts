/** Requests a wake for the end of these workflows. */
import type { Db } from '../connection/db.ts'
import type { WorkflowId } from './new-workflow.ts'

export async function awaitWorkflows(db: Db, ids: readonly WorkflowId[]): Promise<void> {
  await db
    .insertInto('q.awaited_workflow')
    .values(ids.map((id) => ({ workflow_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
