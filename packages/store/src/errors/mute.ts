/** Mutes a group of errors for a time: attention does not list it, but its errors are still counted. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export interface Mute {
  /** Counted from now. */
  readonly untilMs: number
  readonly by: string
}

/** Null unmutes it. */
export async function muteErrorGroup(
  db: Db,
  fingerprint: string,
  mute: Mute | null,
): Promise<'muted' | 'unmuted' | 'not-found'> {
  const until = sql<Date | null>`clock_timestamp() + ${mute?.untilMs ?? null}::float8 * interval '1 ms'`
  const changed = await db
    .updateTable('q.error_group')
    .set({ muted_until: until, muted_by: mute?.by ?? null })
    .where('fingerprint', '=', fingerprint)
    .returning('fingerprint')
    .execute()
  if (changed.length === 0) return 'not-found'
  return mute === null ? 'unmuted' : 'muted'
}
