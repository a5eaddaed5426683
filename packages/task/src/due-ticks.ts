/**
 * Decides which ticks of a schedule to enqueue now. Pure.
 *
 * A tick that is less than a minute late is enqueued: a replica may have died and another taken over. An older tick was
 * missed because no replica was running, and the schedule's policy decides:
 *
 *   skip   none of them
 *   one    the newest, unless a later tick is enqueued anyway
 *   all    the newest hundred
 *
 * A tick that was due when the pattern changed is still enqueued, by the same rules.
 */
import { nextTick, ticksBetween, type Pattern } from './cron.ts'

export type Missed = 'skip' | 'one' | 'all'

export interface ScheduleState extends Pattern {
  readonly missed: Missed
  /** Ticks up to this time have been handled. */
  readonly seenUntil: Date
  /** The stored next tick. If it is not after `seenUntil`, it is still to be enqueued. */
  readonly nextTick: Date | null
}

export interface DueTicks {
  /** Oldest first. */
  readonly ticks: readonly Date[]
  /** Undefined if the schedule never ticks again. */
  readonly next: Date | undefined
}

export const tickLimits = { lateMsMax: 60_000, missedMax: 100 } as const

export function dueTicks(schedule: ScheduleState, now: Date): DueTicks {
  const { seenUntil, nextTick: stored } = schedule
  const countMax = tickLimits.lateMsMax / 1_000 + 1 + tickLimits.missedMax
  const owed = stored !== null && stored <= seenUntil ? [stored] : []
  const due = [...owed, ...ticksBetween(schedule, seenUntil, now, countMax)]
  const late = due.filter((tick) => now.getTime() - tick.getTime() <= tickLimits.lateMsMax)
  const missed = due.slice(0, due.length - late.length)
  return {
    ticks: [...wanted(schedule.missed, missed, late), ...late],
    next: nextTick(schedule, seenUntil > now ? seenUntil : now),
  }
}

function wanted(policy: Missed, missed: readonly Date[], late: readonly Date[]): readonly Date[] {
  switch (policy) {
    case 'skip':
      return []
    case 'one':
      return late.length > 0 ? [] : missed.slice(-1)
    case 'all':
      return missed.slice(-tickLimits.missedMax)
  }
}
