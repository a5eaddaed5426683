/**
 * RUNNING | CLAIMED → AVAILABLE, by the holder itself
 *
 * Given back: by a drain that ran out of time, or because the code never began. The attempt is given back too, and the
 * fence raised, so nothing the old execution may still try to write is accepted.
 */
import type { Db } from '../db.ts'
import type { Lease, RunId } from '../lease.ts'
import { leaveRuns, type Leaving } from './leave.ts'
import { promoteOpenKeys } from './promote.ts'
import type { SettleOptions } from './settle.ts'

/** Ids of those that were still held under their lease. */
export async function releaseTaskRuns(
  db: Db,
  leases: readonly Lease[],
  by?: Leaving['by'],
  { skipBusy = false }: SettleOptions = {},
): Promise<RunId[]> {
  const leavings = leases.map((lease) => ({ ...lease, goal: 'AVAILABLE', giveBack: true, ...(by && { by }) }) as const)
  const left = await leaveRuns(db, ['CLAIMED', 'RUNNING'], leavings, { skipLocked: skipBusy })
  // One whose cancelling was requested has ended instead, and left its slot.
  await promoteOpenKeys(db, left)
  return left.map((run) => run.id)
}
