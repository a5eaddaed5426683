/**
 * PENDING → AVAILABLE → RUNNING → SUCCEEDED, or PENDING → FAILED | CANCELLED, of steps that no code executes
 *
 * A map or sub-workflow step ends in the transaction that ends the last item or step it waited for. A success passes
 * through AVAILABLE and RUNNING inside that transaction; no other session sees these states.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transitioned } from '../runs/transition.ts'
import { transitionSteps } from './transition-steps.ts'
import type { PendingWakes } from './pending-wakes.ts'

export interface StructuralStepEnd {
  readonly id: RunId
  readonly goal: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'
  /** JSON text. */
  readonly result: string
}

/** The holder that reads show for such a step. */
const holder = 'workflow'

/** Ends the steps that are still PENDING and returns them. */
export async function endStructuralSteps(
  trx: Db,
  ends: readonly StructuralStepEnd[],
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  const succeeded = ends.filter((end) => end.goal === 'SUCCEEDED')
  const others = ends.filter((end) => end.goal !== 'SUCCEEDED')
  const fences = await moveToRunning(
    trx,
    succeeded.map((end) => end.id),
  )
  return [
    ...(await transitionSteps(
      trx,
      ['RUNNING'],
      succeeded.flatMap(({ id, goal, result }) => {
        const fence = fences.get(id)
        return fence === undefined ? [] : [{ runId: id, fence, goal, result }]
      }),
      wakes,
    )),
    ...(await transitionSteps(
      trx,
      ['PENDING'],
      others.map(({ id, goal, result }) => ({ runId: id, fence: null, goal, result })),
      wakes,
    )),
  ]
}

async function moveToRunning(trx: Db, ids: readonly RunId[]): Promise<ReadonlyMap<RunId, number>> {
  if (ids.length === 0) return new Map()
  await sql`UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL, waiting_on = 0
    WHERE id = ANY(${ids}::bigint[]) AND status = 'PENDING'`.execute(trx)
  const { rows } = await sql<{ id: RunId; fence: number }>`
    UPDATE q.task_run SET status = 'RUNNING', fence = fence + 1, attempt = attempt + 1, replica_id = ${holder},
      claimed_at = clock_timestamp(), started_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = ANY(${ids}::bigint[]) AND status = 'AVAILABLE' RETURNING id, fence`.execute(trx)
  return new Map(rows.map(({ id, fence }) => [id, fence]))
}
