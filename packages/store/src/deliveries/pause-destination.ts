/** Pauses and resumes a destination. While it is paused, its reports are written and not sent. */
import { sql } from 'kysely'
import { now } from '../clock.ts'
import type { Db } from '../connection/db.ts'
import { whenUnlocked } from './when-unlocked.ts'

export async function pauseDestination(
  db: Db,
  name: string,
  { by, reason }: { readonly by: string; readonly reason?: string },
): Promise<'paused' | 'not-found'> {
  const changed = await whenUnlocked(db, () =>
    db
      .updateTable('q.destination')
      .set({ paused_at: sql<Date>`coalesce(paused_at, ${now})`, paused_by: by, pause_reason: reason ?? null })
      .where('name', '=', name)
      .returning('name')
      .execute(),
  )
  return changed.length === 0 ? 'not-found' : 'paused'
}

export async function resumeDestination(db: Db, name: string): Promise<'resumed' | 'not-found'> {
  const changed = await whenUnlocked(db, () =>
    db
      .updateTable('q.destination')
      .set({ paused_at: null, paused_by: null, pause_reason: null })
      .where('name', '=', name)
      .returning('name')
      .execute(),
  )
  return changed.length === 0 ? 'not-found' : 'resumed'
}
