/**
 * PENDING | AVAILABLE | CLAIMED → CANCELLED at once; RUNNING: requested
 *
 * A running one is ended by its holder, who learns of it by a wake or, if that is lost, by the answer to its next beat.
 * A cancel that races with an outcome already reached loses: a terminal run stays as it is.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { leaveRuns } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

export type CancelAnswer = 'cancelled' | 'requested' | 'already-ended' | 'not-found'

const unstarted: readonly TaskState[] = ['PENDING', 'AVAILABLE', 'CLAIMED']

/** One answer per id, in the order asked. */
export async function cancelTaskRuns(db: Db, ids: readonly RunId[], detail = 'Cancelled.'): Promise<CancelAnswer[]> {
  const result = JSON.stringify({ code: 'TASK_CANCELLED', detail })
  const left = await leaveRuns(
    db,
    unstarted,
    ids.map((runId) => ({ runId, fence: null, goal: 'CANCELLED', result }) as const),
  )
  await promoteOpenKeys(db, left)
  const cancelled = new Set(left.map((run) => run.id))
  const others = ids.filter((id) => !cancelled.has(id))
  const states = await requestCancel(db, others)
  return ids.map((id) => (cancelled.has(id) ? 'cancelled' : (states.get(id) ?? 'not-found')))
}

async function requestCancel(db: Db, ids: readonly RunId[]): Promise<Map<RunId, CancelAnswer>> {
  if (ids.length === 0) return new Map()
  // A whole statement by hand: the flag, the wake and the answer from one look.
  const { rows } = await sql<{ id: RunId; requested: boolean }>`
WITH asked AS (
  UPDATE q.task_run SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()), updated_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT id FROM q.task_run WHERE id = ANY(${ids}::bigint[]) AND status = 'RUNNING' ORDER BY id FOR NO KEY UPDATE))
  RETURNING id, replica_id
), wake AS (
  SELECT count(pg_notify('q_cancel', replica_id)) FROM (SELECT DISTINCT replica_id FROM asked) holders
)
SELECT r.id, asked.id IS NOT NULL AS requested FROM q.task_run r LEFT JOIN asked USING (id) LEFT JOIN wake ON true
WHERE r.id = ANY(${ids}::bigint[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row.requested ? 'requested' : 'already-ended']))
}
