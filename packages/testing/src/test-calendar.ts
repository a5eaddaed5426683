/**
 * By which schedules tick in a test. It stands: time on the wall does nothing to it, only travel() turns it on. And it
 * begins each time at the same moment, so that no test depends on the hour, or the day, at which somebody runs it.
 *
 * To the database, in which travel() makes everything older, the calendar always shows the moment at which it began.
 */
import type { Calendar } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import type { Connection, Schedule } from '@q/store'

export interface TestCalendar {
  /** When it was made, by the database's clock. */
  readonly began: Date
  /** As it stands now. */
  read(): Calendar
  turn(ms: number): void
  /** The schedule with its ticks by the calendar. */
  show(schedule: Schedule): Schedule
}

/** A Monday. */
const firstDay = new Date('2024-01-01T00:00:00Z')

export async function openTestCalendar(
  { db }: Pick<Connection, 'db'>,
  startsAt: Date = firstDay,
): Promise<TestCalendar> {
  if (Number.isNaN(startsAt.getTime())) throw noMoment()
  const clock = db.selectNoFrom((build) => build.fn<Date>('clock_timestamp', []).as('now'))
  const { now: began } = await clock.executeTakeFirstOrThrow()
  let passedMs = 0
  const aheadMs = () => startsAt.getTime() + passedMs - began.getTime()
  const shown = (moment: Date | null) => moment && new Date(moment.getTime() + aheadMs())
  return {
    began,
    read: () => ({ now: new Date(startsAt.getTime() + passedMs), aheadMs: aheadMs() }),
    turn: (ms) => void (passedMs += ms),
    show: (schedule) => ({ ...schedule, lastTick: shown(schedule.lastTick), nextTick: shown(schedule.nextTick) }),
  }
}

function noMoment(): ExplainedError {
  return new ExplainedError({
    code: 'STARTS_AT_INVALID',
    what: 'startsAt of testQueue() is no moment.',
    why: 'It is an invalid Date: what it was made of could not be read.',
    fix: "Write it with its time zone: new Date('2026-03-29T00:00:00Z').",
  })
}
