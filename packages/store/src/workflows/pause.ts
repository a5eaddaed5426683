/**
 * RUNNING → PAUSED → RUNNING, of workflows
 *
 * No step starts in a paused workflow: its steps wait at the gate `workflow`, between `parents` and the other gates.
 * Running steps continue; their dependents wait too, and a run that is retried, released or recovered returns to that
 * gate. A paused workflow does not end, even if all its steps have: a resume ends it. Sub-workflows are paused and resumed
 * with it.
 */
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { propagateEnds } from './advance.ts'
import { heldSteps, pauseAll, resumeAll, withoutOpenSteps } from './hold-steps.ts'
import { lockWorkflow } from './lock.ts'
import type { WorkflowId } from './new-workflow.ts'
import { activateSteps } from './activate-steps.ts'
import { flushWakes, newPendingWakes } from './pending-wakes.ts'

/** `ending`: the workflow failed or was cancelled, and only waits for running steps. */
export type PauseAnswer = 'paused' | 'already-paused' | 'ending' | 'already-ended' | 'not-found'
export type ResumeAnswer = 'resumed' | 'not-paused' | 'already-ended' | 'not-found'

export function pauseWorkflow(db: Db, id: WorkflowId, by: string): Promise<PauseAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status === 'PAUSED') return 'already-paused'
    if (workflow.status !== 'RUNNING') return 'already-ended'
    if (workflow.endsAs !== null) return 'ending'
    const wakes = newPendingWakes()
    await pauseAll(trx, [id], by, wakes)
    await flushWakes(trx, wakes)
    return 'paused'
  })
}

export function resumeWorkflow(db: Db, id: WorkflowId): Promise<ResumeAnswer> {
  return inTransaction(db, async (trx) => {
    const workflow = await lockWorkflow(trx, id)
    if (workflow === undefined) return 'not-found'
    if (workflow.status !== 'PAUSED' && workflow.status !== 'RUNNING') return 'already-ended'
    const wakes = newPendingWakes()
    // A sub-workflow may be paused alone, by an error of its own.
    const resumed = await resumeAll(trx, [id])
    if (resumed.length === 0) return 'not-paused'
    const ended = await activateSteps(trx, await heldSteps(trx, resumed), wakes)
    await propagateEnds(trx, ended, await withoutOpenSteps(trx, resumed), wakes)
    await flushWakes(trx, wakes)
    return 'resumed'
  })
}
