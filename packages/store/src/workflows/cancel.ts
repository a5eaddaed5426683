/**
 * RUNNING | PAUSED → CANCELLED, of workflows: at once if nothing runs, else when what runs has ended
 *
 * What has not begun is CANCELLED at once, what runs is asked to stop. Compensations run then, as after a failure. A
 * workflow that is failing already ends FAILED: a cancel that races with an outcome already reached loses.
 */
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import { follow } from './advance.ts'
import { lockWorkflow } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { stopWorkflows } from './stop.ts'
import { newTidings, tell } from './tidings.ts'

/** `requested`: something still runs. `ending`: it was failing, or cancelled, before. */
export type CancelWorkflowAnswer = 'cancelled' | 'requested' | 'ending' | 'already-ended' | 'not-found'

export function cancelWorkflow(db: Db, id: WorkflowId): Promise<CancelWorkflowAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status !== 'RUNNING' && workflow.status !== 'PAUSED') return 'already-ended'
    if (workflow.endsAs !== null) return 'ending'
    const tidings = newTidings()
    const ended = await stopWorkflows(trx, [id], 'CANCELLED', tidings)
    await follow(trx, ended, [], tidings)
    await tell(trx, tidings)
    const after = await lockWorkflow(trx, id)
    return after?.status === 'CANCELLED' ? 'cancelled' : 'requested'
  })
}
