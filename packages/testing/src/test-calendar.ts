/**
 * The calendar that drives schedules in a test. It stands still except for travel(), and it always starts at the same time,
 * so that no test depends on when it runs.
 *
 * travel() ages all rows of the database instead of moving its clock, so the database always sees the start of the calendar.
 */
import type { VirtualClock } from '@q/runner/inline'
import { ExplainedError } from '@q/schema'
import type { Connection, Schedule } from '@q/store'

export interface TestCalendar {
  /** When the calendar was created, by the database clock. */
  readonly began: Date
  /** The current time of the calendar. */
  read(): VirtualClock
  advance(ms: number): void
  /** The schedule, with its ticks in calendar time. */
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
    advance: (ms) => void (passedMs += ms),
    show: (schedule) => ({ ...schedule, lastTick: shown(schedule.lastTick), nextTick: shown(schedule.nextTick) }),
  }
}

function noMoment(): ExplainedError {
  return new ExplainedError({
    code: 'STARTS_AT_INVALID',
    what: 'startsAt of testQueue() is not a valid time.',
    why: 'It is an invalid Date.',
    fix: "Write it with its time zone: new Date('2026-03-29T00:00:00Z').",
  })
}
