/**
 * CLAIMED → RUNNING, by lease
 *
 * For runs that were claimed ahead. Committed before the code begins, which is what makes a CLAIMED run safe to requeue.
 * A run whose deadline has passed meanwhile is not started.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import { columnsOf, type Lease, type RunId } from '../lease.ts'

/** Ids of those that may be executed now; the other leases are lost, or their runs expired. */
export async function startTaskRuns(db: Db, leases: readonly Lease[]): Promise<RunId[]> {
  if (leases.length === 0) return []
  return (await startStatement(leases).execute(db)).rows.map((row) => row.id)
}

// A whole statement by hand: arrays in, locks in id order.
export function startStatement(leases: readonly Lease[]): RawBuilder<{ id: RunId }> {
  const { ids, fences } = columnsOf(leases)
  return sql<{ id: RunId }>`
WITH locked AS MATERIALIZED (
  SELECT r.id FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
  JOIN q.task_run r ON r.id = g.id AND r.fence = g.fence
  WHERE r.status = 'CLAIMED' AND (r.expires_at IS NULL OR r.expires_at > clock_timestamp())
  ORDER BY r.id FOR NO KEY UPDATE OF r
)
UPDATE q.task_run r SET status = 'RUNNING', attempt = r.attempt + 1, started_at = clock_timestamp(), updated_at = clock_timestamp()
FROM locked WHERE r.id = locked.id
RETURNING r.id`
}
