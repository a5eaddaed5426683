/**
 * A schedule is paused, resumed, removed by a person. While it is paused nothing ticks, and what would have ticked is
 * not missed, because it was not wanted: resumed, it begins anew from that moment.
 */
import { sql } from 'kysely'
import { now } from '../clock.ts'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import { wakeSchedules } from '../wakes.ts'

const nextVersion = sql<number>`version + 1`

export async function pauseSchedule(db: Db, name: string, by: string): Promise<'paused' | 'not-found'> {
  const changed = await db
    .updateTable('q.schedule')
    .set({ version: nextVersion, paused_at: sql<Date>`coalesce(paused_at, clock_timestamp())`, paused_by: by })
    .where('name', '=', name)
    .returning('name')
    .execute()
  return changed.length === 0 ? 'not-found' : 'paused'
}

/** One that is not paused stays as it is. */
export async function resumeSchedule(db: Db, name: string): Promise<'resumed' | 'not-found'> {
  return inTransaction(db, async (trx) => {
    const there = await trx.selectFrom('q.schedule').select('name').where('name', '=', name).forUpdate().execute()
    if (there.length === 0) return 'not-found'
    await trx
      .updateTable('q.schedule')
      .set({ version: nextVersion, paused_at: null, paused_by: null, seen_until: now, next_tick: null })
      .where('name', '=', name)
      .where('paused_at', 'is not', null)
      .execute()
    await wakeSchedules(trx)
    return 'resumed'
  })
}

/** What it has enqueued stays. One that a task declares comes back with the next replica that starts. */
export async function removeSchedule(db: Db, name: string): Promise<'removed' | 'not-found'> {
  const removed = await db.deleteFrom('q.schedule').where('name', '=', name).returning('name').execute()
  return removed.length === 0 ? 'not-found' : 'removed'
}
