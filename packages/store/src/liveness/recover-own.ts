/**
 * own RUNNING → AVAILABLE | FAILED, own CLAIMED → AVAILABLE
 *
 * What a replica holds by the database's account and does not execute: its code began here, ended, and nothing was
 * written. The crash path, by the replica itself, under its own lease and with a record like every other recovery.
 * A run whose code is known never to have begun is given back instead (`releaseTaskRuns`).
 */
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { Lease } from '../lease.ts'
import { leaveRuns } from '../runs/leave.ts'
import { promoteOpenKeys } from '../runs/promote.ts'
import { record, type Recovered } from './recover.ts'

export interface OwnRecovery {
  readonly replicaId: string
  readonly hostname: string
  readonly leases: readonly Lease[]
}

const result = JSON.stringify({
  code: 'WORKER_CRASHED',
  detail: 'Its replica held the run without executing it: its code had ended there and nothing was written.',
})

export async function recoverOwnTaskRuns(db: Db, own: OwnRecovery): Promise<Recovered> {
  const leavings = own.leases.map((lease) => ({ ...lease, goal: 'CRASH', result, revoke: true }) as const)
  const left = await inTransaction(db, async (trx) => {
    const recovered = await leaveRuns(trx, ['CLAIMED', 'RUNNING'], leavings, { skipLocked: true })
    const { replicaId, hostname } = own
    const seen = recovered.map(({ id, fence }) => ({
      id,
      fence,
      replicaId,
      hostname,
      cause: 'reconciled' as const,
      beatAgeMs: null,
    }))
    await record(trx, recovered, seen, replicaId)
    return recovered
  })
  await promoteOpenKeys(db, left)
  const ids = left.map((run) => run.id)
  return { ids, count: ids.length }
}
