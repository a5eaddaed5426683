/**
 * PENDING | AVAILABLE | CLAIMED → CANCELLED at once; RUNNING: requested
 *
 * A running one is ended by its holder, who learns of it by a wake or, if that is lost, by the answer to its next beat.
 * A cancel that races with an outcome already reached loses: a terminal run stays as it is.
 *
 * Two statements, and no lock from one to the other: it would be held while dependents are locked. A run that was given
 * back, retried or recovered in between was in neither state when it was looked at, so it is looked at again. Steps are
 * asked when their workflows are locked: who settles one of them may be about to ask the others.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { lockWorkflowsOf } from '../workflows/lock.ts'
import { leaveRuns } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

export type CancelAnswer = 'cancelled' | 'requested' | 'already-ended' | 'not-found'

const unstarted: readonly TaskState[] = ['PENDING', 'AVAILABLE', 'CLAIMED']

/** A run moves on between two statements only when its holder ends an attempt or dies: no run does so for ever. */
const roundsMax = 20

/** One answer per id, in the order asked. */
export async function cancelTaskRuns(db: Db, ids: readonly RunId[], detail = 'Cancelled.'): Promise<CancelAnswer[]> {
  const answers = new Map<RunId, CancelAnswer>()
  let open = [...new Set(ids)]
  for (let round = 1; open.length > 0; round++) {
    if (round > roundsMax) throw new Error(`While being cancelled, these moved ${roundsMax} times: ${open.join(', ')}`)
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
  const leavings = ids.map((runId) => ({ runId, fence: null, goal: 'CANCELLED', result }) as const)
  const left = await leaveRuns(db, unstarted, leavings)
  await promoteOpenKeys(db, left)
  return left.map((run) => run.id)
}

async function requestAll(db: Db, ids: readonly RunId[]): Promise<readonly Looked[]> {
  const looked = await requestCancel(db, ids, { steps: false })
  const steps = looked.filter(({ answer }) => answer === 'step').map(({ id }) => id)
  if (steps.length === 0) return looked
  const asked = await inTransaction(db, async (trx) => {
    await lockWorkflowsOf(trx, steps)
    return requestCancel(trx, steps, { steps: true })
  })
  return [...looked.filter(({ answer }) => answer !== 'step'), ...asked]
}

interface Looked {
  readonly id: RunId
  /** `moved`: neither running nor ended when it was looked at. `step`: it runs, and is one, and was passed over. */
  readonly answer: 'requested' | 'already-ended' | 'moved' | 'step'
}

/**
 * For those of them that run; the others are answered, and left as they are. `steps`: steps of workflows too, only in a
 * transaction that has locked their workflows.
 */
export async function requestCancel(
  db: Db,
  ids: readonly RunId[],
  { steps }: { readonly steps: boolean },
): Promise<readonly Looked[]> {
  if (ids.length === 0) return []
  // A whole statement by hand: the flag, the wake and the answer from one look.
  const { rows } = await sql<Looked>`
WITH asked AS (
  UPDATE q.task_run SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()), updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM q.task_run WHERE id = ANY(${ids}::bigint[]) AND status = 'RUNNING'
    AND (workflow_id IS NULL OR ${steps}::boolean) ORDER BY id FOR NO KEY UPDATE))
  RETURNING id, replica_id
), wake AS (
  SELECT count(pg_notify('q_cancel', replica_id)) FROM (SELECT DISTINCT replica_id FROM asked) holders
)
SELECT r.id, CASE WHEN asked.id IS NOT NULL THEN 'requested' WHEN r.finished_at IS NOT NULL THEN 'already-ended'
  WHEN r.status = 'RUNNING' AND r.workflow_id IS NOT NULL AND NOT ${steps}::boolean THEN 'step' ELSE 'moved' END AS answer
FROM q.task_run r LEFT JOIN asked USING (id) LEFT JOIN wake ON true
WHERE r.id = ANY(${ids}::bigint[])`.execute(db)
  return rows
}
