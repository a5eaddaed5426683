/**
 * Pauses a queue: claims skip it. Its runs stay AVAILABLE, except those that hold a concurrency key: they return to
 * PENDING, so that runs of other queues get the key, and are promoted again when the queue is resumed.
 */
import type { Db } from '../connection/db.ts'
import { now } from '../clock.ts'
import { freeBlockedKeys, promoteQueue } from '../runs/promote.ts'
import { wakeQueue } from '../wakes.ts'

export async function pauseQueue(db: Db, queue: string, by: string, reason: string | null = null): Promise<void> {
  const paused = { paused_at: now, paused_by: by, pause_reason: reason }
  await db
    .insertInto('q.queue')
    .values({ name: queue, ...paused })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(paused))
    .execute()
  await freeBlockedKeys(db)
}

export async function resumeQueue(db: Db, queue: string): Promise<void> {
  await db
    .updateTable('q.queue')
    .set({ paused_at: null, paused_by: null, pause_reason: null })
    .where('name', '=', queue)
    .execute()
  await promoteQueue(db, queue)
  await wakeQueue(db, queue)
}
