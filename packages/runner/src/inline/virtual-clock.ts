/**
 * Runs schedules by a clock that the test moves, instead of the database's clock. It shifts times read from the database
 * to the virtual clock, and shifts times back before it writes them.
 */
import type { DueSchedule, Store } from '@q/store'

export interface VirtualClock {
  readonly now: Date
  /** How far it is ahead of the database's clock; negative if behind. */
  readonly aheadMs: number
}

type Ticks = Pick<Store, 'dueSchedules' | 'enqueueTicks' | 'wakeQueue'>

export function withVirtualClock(store: Ticks, { now, aheadMs }: VirtualClock): Ticks {
  return {
    async dueSchedules(page) {
      // Due by the database's clock. These include all that are due by this clock; the others have no tick yet.
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
    // A schedule created after the last move of this clock has a later time in the database: use `now`.
    return { seenUntil: seen < now ? seen : now, nextTick: nextTick && later(nextTick, aheadMs) }
  }
}

function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms)
}
