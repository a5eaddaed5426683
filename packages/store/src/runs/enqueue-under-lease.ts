/**
 * Runs that the code of another run enqueues: inserted only while that run is RUNNING under the lease.
 *
 * The lock on the parent's row and the insert are one transaction. A reap, release or settle of the parent happens either
 * before it, and then nothing is inserted, or after it. The lock is shared, so a parent may send many children at once, and its
 * heartbeats pass.
 */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { auditRefusedWrites } from '../events/audit-refused-writes.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import type { Lease } from '../lease.ts'
import { enqueueTaskRuns, promoteNew } from './enqueue.ts'
import type { EnqueuedRun, NewRun } from './new-run.ts'

/** Inserts the runs, or returns `lease-lost` and records a refused write. */
export async function enqueueUnderLease(
  db: Db,
  lease: Lease,
  newRuns: readonly NewRun[],
): Promise<EnqueuedRun[] | 'lease-lost'> {
  const enqueued = await inTransaction(db, async (trx) =>
    (await lockHeld(trx, lease)) ? enqueueChildren(trx, lease, newRuns) : undefined,
  )
  if (enqueued === undefined) {
    await auditRefusedWrites(db, 'refused-enqueue', [lease])
    return 'lease-lost'
  }
  const moved = db.isTransaction ? new Map() : await promoteNew(db, newRuns, enqueued)
  return enqueued.map((run) => ({ ...run, status: moved.get(run.id) ?? run.status }))
}

async function enqueueChildren(trx: Db, { runId }: Lease, newRuns: readonly NewRun[]): Promise<EnqueuedRun[]> {
  const enqueued = await enqueueTaskRuns(trx, newRuns)
  const children = enqueued.filter(({ duplicate }) => !duplicate).map(({ id }) => id)
  await sql`INSERT INTO q.run_origin (run_id, origin_id, kind) SELECT id, ${runId}, 'child'
    FROM unnest(${children}::bigint[]) AS child(id) ON CONFLICT DO NOTHING`.execute(trx)
  return enqueued
}

/** Whether the run is RUNNING under the lease. If so, it stays RUNNING until the transaction ends. */
async function lockHeld(trx: Db, { runId, fence }: Lease): Promise<boolean> {
  const held = await trx
    .selectFrom('q.task_run')
    .select('id')
    .where('id', '=', runId)
    .where('fence', '=', fence)
    .where('status', '=', 'RUNNING')
    .forShare()
    .executeTakeFirst()
  return held !== undefined
}
