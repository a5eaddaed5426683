/**
 * PENDING | AVAILABLE | CLAIMED → EXPIRED
 *
 * Not started before its deadline. The claim passes over such runs, so being late here never lets one start. One that
 * somebody has locked is looked at again next time, and does not hold up the others.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import { leaveRuns } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

/** Ids of those that expired; as many as `limit` means there may be more. */
export async function expireTaskRuns(db: Db, limit: number): Promise<RunId[]> {
  const { rows } = await sql<{ id: RunId; fence: number }>`
    SELECT id, fence FROM q.task_run WHERE expiring_at <= clock_timestamp() ORDER BY expiring_at LIMIT ${limit}`.execute(
    db,
  )
  const result = JSON.stringify({ code: 'TASK_EXPIRED', detail: 'It was not started before its deadline.' })
  const late = rows.map(({ id, fence }) => ({ runId: id, fence, goal: 'EXPIRED', result }) as const)
  const left = await leaveRuns(db, ['PENDING', 'AVAILABLE', 'CLAIMED'], late, { skipLocked: true })
  await promoteOpenKeys(db, left)
  return left.map((run) => run.id)
}
