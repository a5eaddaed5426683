/**
 * RUNNING | CLAIMED → AVAILABLE, by the holder itself
 *
 * Given back: by a drain that ran out of time, or because the code never began. The attempt is given back too, and the
 * fence raised, so nothing the old execution may still try to write is accepted.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db.ts'
import { columnsOf, type Lease, type RunId } from '../lease.ts'

/** Ids of those that were still held under their lease. */
export async function releaseTaskRuns(db: Db, leases: readonly Lease[]): Promise<RunId[]> {
  if (leases.length === 0) return []
  return (await releaseStatement(leases).execute(db)).rows.map((row) => row.id)
}

// A whole statement by hand: locks in id order, history and run changed as one.
export function releaseStatement(leases: readonly Lease[]): RawBuilder<{ id: RunId }> {
  const { ids, fences } = columnsOf(leases)
  return sql<{ id: RunId }>`
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(${ids}::bigint[], ${fences}::int[]) AS g(id, fence)
), locked AS MATERIALIZED (
  SELECT r.id, r.fence, r.epoch, r.attempt, r.status, r.started_at, r.replica_id
  FROM given JOIN q.task_run r ON r.id = given.id AND r.fence = given.fence
  WHERE r.held ORDER BY r.id FOR NO KEY UPDATE OF r
), released AS (
  UPDATE q.task_run r SET
    status = 'AVAILABLE', fence = r.fence + 1, replica_id = NULL, claimed_at = NULL, started_at = NULL,
    attempt = r.attempt - CASE WHEN locked.status = 'RUNNING' THEN 1 ELSE 0 END, updated_at = clock_timestamp()
  FROM locked WHERE r.id = locked.id
  RETURNING r.id
), history AS (
  INSERT INTO q.task_attempt (run_id, fence, epoch, attempt, started_at, outcome, replica_id)
  SELECT id, fence, epoch, attempt, started_at, 'released', replica_id FROM locked WHERE status = 'RUNNING'
), beats AS (
  DELETE FROM q.task_heartbeat WHERE run_id = ANY(ARRAY(SELECT id FROM released))
)
SELECT id FROM released`
}
