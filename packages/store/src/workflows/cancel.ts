/**
 * RUNNING | PAUSED → CANCELLED, of workflows: at once if no step is running, else when the running steps have ended
 *
 * Steps that have not started are CANCELLED at once, running steps are asked to stop. Then compensations run, as after a
 * failure. A workflow that is already failing ends FAILED: a cancel loses against an outcome that is already decided.
 */
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { propagateEnds } from './advance.ts'
import { lockWorkflow } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { stopWorkflows } from './stop.ts'
import { newPendingWakes, flushWakes } from './pending-wakes.ts'

/** `requested`: a step is still running. `ending`: the workflow was already failing or cancelled. */
export type CancelWorkflowAnswer = 'cancelled' | 'requested' | 'ending' | 'already-ended' | 'not-found'

export function cancelWorkflow(db: Db, id: WorkflowId): Promise<CancelWorkflowAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status !== 'RUNNING' && workflow.status !== 'PAUSED') return 'already-ended'
    if (workflow.endsAs !== null) return 'ending'
    const wakes = newPendingWakes()
    const ended = await stopWorkflows(trx, [id], 'CANCELLED', wakes)
    await propagateEnds(trx, ended, [], wakes)
    await flushWakes(trx, wakes)
    const after = await lockWorkflow(trx, id)
    return after?.status === 'CANCELLED' ? 'cancelled' : 'requested'
  })
}
