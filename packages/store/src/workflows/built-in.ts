/**
 * PENDING → SUCCEEDED | FAILED | CANCELLED, of steps that no code executes
 *
 * A map, or a step that is a workflow, ends in the transaction that ends the last thing it waited for. A success goes the
 * way of every run, AVAILABLE and RUNNING, inside of that transaction: nobody ever sees it there.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import type { Left } from '../runs/leave.ts'
import { leaveSteps } from './advance.ts'
import type { Tidings } from './tidings.ts'

export interface BuiltInEnd {
  readonly id: RunId
  readonly goal: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'
  /** JSON text. */
  readonly result: string
}

/** Who is shown to have executed it. */
const holder = 'workflow'

/** Those that were still waiting. */
export async function endBuiltIns(trx: Db, ends: readonly BuiltInEnd[], tidings: Tidings): Promise<Left[]> {
  const succeeded = ends.filter((end) => end.goal === 'SUCCEEDED')
  const others = ends.filter((end) => end.goal !== 'SUCCEEDED')
  const fences = await throughRunning(
    trx,
    succeeded.map((end) => end.id),
  )
  return [
    ...(await leaveSteps(
      trx,
      ['RUNNING'],
      succeeded.flatMap(({ id, goal, result }) => {
        const fence = fences.get(id)
        return fence === undefined ? [] : [{ runId: id, fence, goal, result }]
      }),
      tidings,
    )),
    ...(await leaveSteps(
      trx,
      ['PENDING'],
      others.map(({ id, goal, result }) => ({ runId: id, fence: null, goal, result })),
      tidings,
    )),
  ]
}

async function throughRunning(trx: Db, ids: readonly RunId[]): Promise<ReadonlyMap<RunId, number>> {
  if (ids.length === 0) return new Map()
  await sql`UPDATE q.task_run SET status = 'AVAILABLE', waiting_for = NULL, waiting_on = 0
    WHERE id = ANY(${ids}::bigint[]) AND status = 'PENDING'`.execute(trx)
  const { rows } = await sql<{ id: RunId; fence: number }>`
    UPDATE q.task_run SET status = 'RUNNING', fence = fence + 1, attempt = attempt + 1, replica_id = ${holder},
      claimed_at = clock_timestamp(), started_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = ANY(${ids}::bigint[]) AND status = 'AVAILABLE' RETURNING id, fence`.execute(trx)
  return new Map(rows.map(({ id, fence }) => [id, fence]))
}
