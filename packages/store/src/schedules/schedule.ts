/** A schedule, as stored and as returned. */
import { sql, type RawBuilder } from 'kysely'

export type MissedTicks = 'skip' | 'one' | 'all'

/** Options of its runs. */
export interface ScheduleRunOptions {
  readonly priority?: number
  readonly group?: string
  readonly expiresInMs?: number
}

/** The caller has validated the pattern: the store does not interpret it. */
export interface ScheduleInput {
  readonly name: string
  readonly task: string
  readonly cron: string
  readonly timezone: string
  readonly missed: MissedTicks
  /** The payload value, at most 1 MiB as JSON. */
  readonly payload: unknown
  readonly options?: ScheduleRunOptions
}

export interface Schedule {
  readonly name: string
  readonly task: string
  readonly cron: string
  readonly timezone: string
  readonly missed: MissedTicks
  readonly payload: unknown
  readonly options: ScheduleRunOptions
  /** The last tick that was enqueued. */
  readonly lastTick: Date | null
  /** Null: not computed yet, paused, or no further tick. */
  readonly nextTick: Date | null
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  /** Whether the code of its task declares it. */
  readonly isOwn: boolean
}

/** Columns of `q.schedule`, read as a Schedule. */
export const scheduleColumns: RawBuilder<unknown> = sql`
  name, task, cron, timezone, missed, payload, options, last_tick AS "lastTick", paused_at AS "pausedAt", paused_by AS "pausedBy",
  published_by IS NOT NULL AS "isOwn", CASE WHEN isfinite(next_tick) AND paused_at IS NULL THEN next_tick END AS "nextTick"`

/** Returns the name of the schedule that a task declares. No other name begins with `task:`. */
export function ownScheduleName(task: string): string {
  return `${ownPrefix}${task}`
}

export const ownPrefix = 'task:'
