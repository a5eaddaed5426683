/** A schedule, as it is stored and as it is told. */
import { sql, type RawBuilder } from 'kysely'

export type MissedTicks = 'skip' | 'one' | 'all'

/** What its runs are enqueued with beside their payload. */
export interface ScheduleRunOptions {
  readonly priority?: number
  readonly group?: string
  readonly expiresInMs?: number
}

/** What is asked for. Whether the pattern can be read is for the caller to know: the store has no opinion about time. */
export interface ScheduleWish {
  readonly name: string
  readonly task: string
  readonly cron: string
  readonly timezone: string
  readonly missed: MissedTicks
  /** The value itself; at most 1 MiB as JSON. */
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
  /** Null: not reckoned yet, or paused, or never again. */
  readonly nextTick: Date | null
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  /** Declared by the code of its task. */
  readonly isOwn: boolean
}

/** Of `q.schedule`, to be read as a Schedule. */
export const scheduleColumns: RawBuilder<unknown> = sql`
  name, task, cron, timezone, missed, payload, options, last_tick AS "lastTick", paused_at AS "pausedAt", paused_by AS "pausedBy",
  published_by IS NOT NULL AS "isOwn", CASE WHEN isfinite(next_tick) AND paused_at IS NULL THEN next_tick END AS "nextTick"`

/** The name of the schedule that a task declares itself. No other begins so. */
export function ownScheduleName(task: string): string {
  return `${ownPrefix}${task}`
}

export const ownPrefix = 'task:'
