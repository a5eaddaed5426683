/**
 * PENDING | AVAILABLE | CLAIMED → EXPIRED
 *
 * Ends runs that were not started before their deadline. The claim skips such runs, so a late expiry never lets one
 * start. A run that another session has locked is left to the next call and does not block the others.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import { applyTransitions } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'

/** Returns the ids of the expired runs; as many as `limit` means there may be more. */
export async function expireTaskRuns(db: Db, limit: number): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId; fence: number }>`
    SELECT id, fence FROM q.task_run WHERE expiring_at <= clock_timestamp() ORDER BY expiring_at LIMIT ${limit}`.execute(
    db,
  )
  const result = JSON.stringify({ code: 'TASK_EXPIRED', detail: 'It was not started before its deadline.' })
  const late = rows.map(({ id, fence }) => ({ runId: id, fence, goal: 'EXPIRED', result }) as const)
  const changed = await applyTransitions(db, ['PENDING', 'AVAILABLE', 'CLAIMED'], late, { skipLocked: true })
  await promoteOpenKeys(db, changed)
  return changed.map((run) => run.id)
}
