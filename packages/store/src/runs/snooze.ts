/**
 * RUNNING → PENDING (time), by the holder itself
 *
 * The code asked to run again later. This is not a failure, so the attempt does not count. A concurrency key that it
 * held goes to the next waiting run, which may overtake it.
 */
import type { Db } from '../connection/db.ts'
import type { Lease } from '../lease.ts'
import { applyTransitions } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'

export async function snoozeTaskRun(
  db: Db,
  lease: Lease,
  delayMs: number,
  tookMs?: number,
): Promise<'snoozed' | 'cancelled' | 'lease-lost'> {
  const changed = await applyTransitions(
    db,
    ['RUNNING'],
    [{ ...lease, goal: 'PENDING', delayMs, refundAttempt: true, ...(tookMs !== undefined && { tookMs }) }],
  )
  await promoteOpenKeys(db, changed)
  const [run] = changed
  if (run === undefined) return 'lease-lost'
  return run.status === 'CANCELLED' ? 'cancelled' : 'snoozed'
}
