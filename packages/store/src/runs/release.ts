/**
 * RUNNING | CLAIMED → AVAILABLE, by the holder itself
 *
 * Used by a drain that ran out of time, and for code that never began. The attempt does not count, and the fence rises,
 * so the database rejects any later write of the old execution.
 */
import type { Db } from '../connection/db.ts'
import type { Lease, RunId } from '../lease.ts'
import { applyTransitions, type Transition } from './transition.ts'
import { promoteOpenKeys } from './promote.ts'
import type { SettleOptions } from './settle.ts'

/** Returns the ids of runs that were still held under their lease. */
export async function releaseTaskRuns(
  db: Db,
  leases: readonly Lease[],
  by?: Transition['by'],
  { skipBusy = false }: SettleOptions = {},
): Promise<RunId[]> {
  const transitions = leases.map(
    (lease) => ({ ...lease, goal: 'AVAILABLE', refundAttempt: true, ...(by && { by }) }) as const,
  )
  const changed = await applyTransitions(db, ['CLAIMED', 'RUNNING'], transitions, { skipLocked: skipBusy })
  // A run with a requested cancel has ended instead, and freed its slot.
  await promoteOpenKeys(db, changed)
  return changed.map((run) => run.id)
}
