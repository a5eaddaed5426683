/** A paused queue is passed over by claims as a whole; its runs stay AVAILABLE, and none is rewritten. */
import type { Db } from '../db.ts'
import { now } from '../clock.ts'

export async function pauseQueue(db: Db, queue: string, by: string): Promise<void> {
  const paused = { paused_at: now, paused_by: by }
  await db
    .insertInto('q.queue')
    .values({ name: queue, ...paused })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(paused))
    .execute()
}

export async function resumeQueue(db: Db, queue: string): Promise<void> {
  await db.updateTable('q.queue').set({ paused_at: null, paused_by: null }).where('name', '=', queue).execute()
}
