/**
 * CLAIMED → RUNNING, by lease
 *
 * For runs that were claimed ahead. Committed before the code begins, which is what makes a CLAIMED run safe to requeue.
 * A run whose deadline has passed meanwhile is not started.
 */
import { sql, type CompiledQuery } from 'kysely'
import type { Db } from '../db.ts'
import { refusedWrites } from '../events/refused.ts'
import { columnsOf, inOrder, type Lease, type LeaseColumns, type RunId } from '../lease.ts'
import { prepared } from '../prepared.ts'
import { isInTime } from './claimable.ts'

/** Ids of those that may be executed now; the other leases are lost, or their runs expired. */
export async function startTaskRuns(db: Db, leases: readonly Lease[]): Promise<RunId[]> {
  if (leases.length === 0) return []
  const started = (await db.executeQuery(startStatement(leases))).rows.map((row) => row.id)
  const others = leases.filter(({ runId }) => !started.includes(runId))
  await refusedWrites(db, 'refused-start', others)
  return started
}

export function startStatement(leases: readonly Lease[]): CompiledQuery<{ id: RunId }> {
  return start(columnsOf(inOrder(leases)))
}

// A whole statement by hand: arrays in, and rows found and locked in the order of their ids.
const start = prepared<LeaseColumns, { id: RunId }>(
  'start',
  ({ ids, fences }) => sql<{ id: RunId }>`
UPDATE q.task_run r SET status = 'RUNNING', attempt = r.attempt + 1, started_at = clock_timestamp(), updated_at = clock_timestamp()
FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
WHERE r.id = g.id AND r.fence = g.fence AND r.status = 'CLAIMED' AND ${isInTime}
RETURNING r.id`,
)
