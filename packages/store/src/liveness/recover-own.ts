/**
 * own RUNNING → AVAILABLE | FAILED, own CLAIMED → AVAILABLE
 *
 * Recovers runs that a replica holds according to the database but does not execute: their code began, ended, and no
 * outcome was written. The replica takes the crash path itself, under its own lease, with a record like every other
 * recovery. A run whose code never began is released instead (`releaseTaskRuns`).
 */
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { Lease } from '../lease.ts'
import { applyTransitions } from '../runs/transition.ts'
import { promoteOpenKeys } from '../runs/promote.ts'
import { recordRecoveries, type RecoveryResult } from './recover.ts'

export interface OwnRecovery {
  readonly replicaId: string
  readonly hostname: string
  readonly leases: readonly Lease[]
}

const result = JSON.stringify({
  code: 'WORKER_CRASHED',
  detail: 'Its replica held the run without executing it: its code had ended there and nothing was written.',
})

export async function recoverOwnTaskRuns(db: Db, own: OwnRecovery): Promise<RecoveryResult> {
  const transitions = own.leases.map((lease) => ({ ...lease, goal: 'CRASH', result, revoke: true }) as const)
  const changed = await inTransaction(db, async (trx) => {
    const recovered = await applyTransitions(trx, ['CLAIMED', 'RUNNING'], transitions, { skipLocked: true })
    const { replicaId, hostname } = own
    const seen = recovered.map(({ id, fence }) => ({
      id,
      fence,
      replicaId,
      hostname,
      cause: 'reconciled' as const,
      beatAgeMs: null,
    }))
    await recordRecoveries(trx, recovered, seen, replicaId)
    return recovered
  })
  await promoteOpenKeys(db, changed)
  const ids = changed.map((run) => run.id)
  return { ids, count: ids.length }
}
