/**
 * PENDING | AVAILABLE | CLAIMED → CANCELLED at once; RUNNING: requested
 *
 * The holder ends a RUNNING run. It learns of the request from a wake or, if that is lost, from the answer to its next
 * heartbeat. A cancel loses against an outcome that is already written: a terminal run does not change.
 *
 * It sends two statements and holds no lock between them, because that lock would be held while dependents are locked.
 * A run that is released, retried or recovered in between matches neither, so it is checked again. The stop of steps is
 * requested once their workflows are locked: a session that settles one step may be about to stop the others.
 */
import type { TaskState } from '@q/schema'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { RunId } from '../lease.ts'
import { lockWorkflowsOf } from '../workflows/lock.ts'
import { applyTransitions } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'
import { requestCancel, type CancelCheck } from './request-cancel.ts'

export type CancelAnswer = 'cancelled' | 'requested' | 'already-ended' | 'not-found'

const unstarted: readonly TaskState[] = ['PENDING', 'AVAILABLE', 'CLAIMED']

/**
 * A run changes state between two statements only when its holder ends an attempt or dies, so the rounds are bounded.
 */
const roundsMax = 20

/** Returns one answer per id, in the order given. */
export async function cancelTaskRuns(db: Db, ids: readonly RunId[], detail = 'Cancelled.'): Promise<CancelAnswer[]> {
  const answers = new Map<RunId, CancelAnswer>()
  let open = [...new Set(ids)]
  for (let round = 1; open.length > 0; round++) {
    if (round > roundsMax)
      throw new Error(`These runs changed state ${roundsMax} times while they were being cancelled: ${open.join(', ')}`)
    for (const id of await cancelUnstarted(db, open, detail)) answers.set(id, 'cancelled')
    const moved: RunId[] = []
    const rest = open.filter((id) => !answers.has(id))
    for (const { id, answer } of await requestAll(db, rest)) {
      if (answer === 'moved' || answer === 'step') moved.push(id)
      else answers.set(id, answer)
    }
    open = moved
  }
  return ids.map((id) => answers.get(id) ?? 'not-found')
}

async function cancelUnstarted(db: Db, ids: readonly RunId[], detail: string): Promise<RunId[]> {
  const result = JSON.stringify({ code: 'TASK_CANCELLED', detail })
  const transitions = ids.map((runId) => ({ runId, fence: null, goal: 'CANCELLED', result }) as const)
  const changed = await applyTransitions(db, unstarted, transitions)
  await promoteOpenKeys(db, changed)
  return changed.map((run) => run.id)
}

async function requestAll(db: Db, ids: readonly RunId[]): Promise<readonly CancelCheck[]> {
  const looked = await requestCancel(db, ids, { steps: false })
  const steps = looked.filter(({ answer }) => answer === 'step').map(({ id }) => id)
  if (steps.length === 0) return looked
  const asked = await inTransaction(db, async (trx) => {
    await lockWorkflowsOf(trx, steps)
    return requestCancel(trx, steps, { steps: true })
  })
  return [...looked.filter(({ answer }) => answer !== 'step'), ...asked]
}
