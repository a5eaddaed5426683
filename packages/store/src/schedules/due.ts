/** Schedules that want to be looked at: a tick is due by the database's clock, or the next one is not reckoned yet. */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { scheduleColumns, type Schedule } from './schedule.ts'

export interface DueSchedule extends Schedule {
  /** To be shown by whoever enqueues its ticks. */
  readonly version: number
  /** Ticks up to here are dealt with. */
  readonly seenUntil: Date
  /** When it was read, by the database's clock. */
  readonly now: Date
}

/** By name; a page is followed by what comes after its last name. */
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

/** In ms from now by the database's clock; undefined: no schedule waits for one. */
export async function nextTickInMs(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ tick_in_ms: number | null }>`
    SELECT extract(epoch FROM min(coalesce(next_tick, clock_timestamp())) - clock_timestamp())::float8 * 1000 AS tick_in_ms
    FROM q.schedule WHERE paused_at IS NULL AND (next_tick IS NULL OR isfinite(next_tick))`.execute(db)
  const due = rows[0]?.tick_in_ms ?? null
  return due === null ? undefined : Math.max(0, due)
}
