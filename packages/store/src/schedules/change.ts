/**
 * Pauses, resumes and removes a schedule. A paused schedule has no ticks, and they do not count as missed: after a
 * resume it starts again from that moment.
 */
import { sql } from 'kysely'
import { now } from '../clock.ts'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
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

/** A schedule that is not paused does not change. */
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

/** Its enqueued runs stay. A schedule that a task declares returns when the next replica starts. */
export async function removeSchedule(db: Db, name: string): Promise<'removed' | 'not-found'> {
  const removed = await db.deleteFrom('q.schedule').where('name', '=', name).returning('name').execute()
  return removed.length === 0 ? 'not-found' : 'removed'
}
