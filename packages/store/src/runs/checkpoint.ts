/** What a run's code saves of its state, under its lease, so that a later attempt continues from it. */
import type { Db } from '../db.ts'
import { now } from '../clock.ts'
import type { Lease } from '../lease.ts'

/** `state`: JSON text. */
export async function checkpointTaskRun(db: Db, lease: Lease, state: string): Promise<'saved' | 'lease-lost'> {
  const { numUpdatedRows } = await db
    .updateTable('q.task_run')
    .set({ checkpoint: state, updated_at: now })
    .where('id', '=', lease.runId)
    .where('fence', '=', lease.fence)
    .where('status', '=', 'RUNNING')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n ? 'saved' : 'lease-lost'
}
