/**
 * RUNNING → PENDING (time), by the holder itself
 *
 * The code asked to be called later; that is no failure, so the attempt does not count. A concurrency key it held goes
 * to the next run that waits for it, which may overtake.
 */
import type { Db } from '../db.ts'
import type { Lease } from '../lease.ts'
import { leaveRuns } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'

export async function snoozeTaskRun(
  db: Db,
  lease: Lease,
  delayMs: number,
  tookMs?: number,
): Promise<'snoozed' | 'cancelled' | 'lease-lost'> {
  const left = await leaveRuns(
    db,
    ['RUNNING'],
    [{ ...lease, goal: 'PENDING', delayMs, giveBack: true, ...(tookMs !== undefined && { tookMs }) }],
  )
  await promoteOpenKeys(db, left)
  const [run] = left
  if (run === undefined) return 'lease-lost'
  return run.status === 'CANCELLED' ? 'cancelled' : 'snoozed'
}
