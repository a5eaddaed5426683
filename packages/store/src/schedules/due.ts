/** Reads schedules that need attention: a tick is due by the clock of the database, or the next one has not been computed. */
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { scheduleColumns, type Schedule } from './schedule.ts'

export interface DueSchedule extends Schedule {
  /** Presented when its ticks are enqueued. */
  readonly version: number
  /** Every tick up to here has been enqueued or skipped. */
  readonly seenUntil: Date
  /** When it was read, by the database's clock. */
  readonly now: Date
}

/** Returns a page, ordered by name; the next page starts after its last name. */
export async function dueSchedules(
  db: Db,
  page: { readonly after?: string; readonly limit: number },
): Promise<DueSchedule[]> {
  const { rows } = await sql<DueSchedule>`
    SELECT ${scheduleColumns}, version, seen_until AS "seenUntil", date_trunc('milliseconds', clock_timestamp()) AS now
    FROM q.schedule
    WHERE paused_at IS NULL AND (next_tick IS NULL OR next_tick <= clock_timestamp()) AND name > ${page.after ?? ''}
    ORDER BY name LIMIT ${page.limit}`.execute(db)
  return rows
}

/** Returns ms from now by the clock of the database; undefined if no schedule has a next tick. */
export async function nextTickInMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ tick_in_ms: number | null }>`
    SELECT extract(epoch FROM min(coalesce(next_tick, clock_timestamp())) - clock_timestamp())::float8 * 1000 AS tick_in_ms
    FROM q.schedule WHERE paused_at IS NULL AND (next_tick IS NULL OR isfinite(next_tick))`.execute(db)
  const due = rows[0]?.tick_in_ms ?? null
  return due === null ? undefined : Math.max(0, due)
}
