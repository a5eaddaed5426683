/** Requests the cancel of running runs: a flag on the run, and a wake for its holder, which stops the code. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'

export interface CancelCheck {
  readonly id: RunId
  /** `moved`: neither running nor ended when it was read. `step`: a running step, which was skipped. */
  readonly answer: 'requested' | 'already-ended' | 'moved' | 'step'
}

/**
 * Requests the cancel of those that run; reports the state of the others and leaves them unchanged. `steps`: also steps
 * of workflows, only in a transaction that has locked their workflows.
 */
export async function requestCancel(
  db: Db,
  ids: readonly RunId[],
  { steps }: { readonly steps: boolean },
): Promise<readonly CancelCheck[]> {
  if (ids.length === 0) return []
  // Written in SQL: the flag, the wake and the answer from one snapshot.
  const { rows } = await sql<CancelCheck>`
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
