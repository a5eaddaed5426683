/**
 * Schedules as they are by a calendar that is turned by hand, and not by the clock on the wall: due is what the calendar has
 * passed. Moments in the database are as long ago there as they are by the calendar, so whoever reckons gets them by the
 * calendar, and what it decides is written down by the database's clock.
 */
import type { DueSchedule, Store } from '@q/store'

export interface Calendar {
  /** What it shows. */
  readonly now: Date
  /** How much later a moment is by the calendar than in the database; less than 0: earlier. */
  readonly aheadMs: number
}

type Ticks = Pick<Store, 'dueSchedules' | 'enqueueTicks' | 'wakeQueue'>

export function byCalendar(store: Ticks, { now, aheadMs }: Calendar): Ticks {
  return {
    async dueSchedules(page) {
      // Those that are due by the clock on the wall: no fewer, and who is not due by the calendar has no tick.
      return (await store.dueSchedules(page)).map((schedule) => ({ ...schedule, ...shown(schedule), now }))
    },
    enqueueTicks: (ticking) =>
      store.enqueueTicks({
        ...ticking,
        seenUntil: later(ticking.seenUntil, -aheadMs),
        next: ticking.next && later(ticking.next, -aheadMs),
        ticks: ticking.ticks.map(({ tick, run }) => ({ tick: later(tick, -aheadMs), run })),
      }),
    wakeQueue: (queue) => store.wakeQueue(queue),
  }

  function shown({ seenUntil, nextTick }: DueSchedule): Pick<DueSchedule, 'seenUntil' | 'nextTick'> {
    const seen = later(seenUntil, aheadMs)
    // Made or resumed by the clock on the wall, which has gone on since the calendar was turned: no time has passed.
    return { seenUntil: seen < now ? seen : now, nextTick: nextTick && later(nextTick, aheadMs) }
  }
}

function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms)
}
