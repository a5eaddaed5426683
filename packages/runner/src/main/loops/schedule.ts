/**
 * Enqueues what is due by the clock. Any replica may, one at a time by duty, so that not all of them reckon the same;
 * two at once are harmless, because a tick is enqueued by whoever raises the schedule's version (schedules/tick.ts).
 *
 * It sleeps until the next tick of any schedule, by the database's clock, or until a wake says that one has changed.
 * Who finds something due and the duty taken looks again when that runs out: whoever took it may have died. A schedule
 * that cannot be enqueued fails alone, and is tried again.
 */
import type { DueSchedule, Store } from '@q/store'
import { dueTicks } from '@q/task'
import type { Observe } from '../events.ts'
import { after, atOnce, type Next } from '../loop.ts'
import type { FindDestination } from '../published.ts'

export interface TickDeps {
  readonly store: Pick<Store, 'dueSchedules' | 'enqueueTicks' | 'wakeQueue'>
  readonly findDestination: FindDestination
  readonly observe: Observe
  readonly onEnqueued: () => void
}

export interface ScheduleDeps extends TickDeps {
  readonly control: Store
  readonly store: Store
  readonly replicaId: string
}

const scheduleDuty = 'schedule'
const dutyMs = 1_500
const jitterMs = 100
const pageMax = 100
/** For schedules that somebody wrote by hand, or a wake that was lost. */
const lookEveryMs = 10_000
/** After one that failed. */
const againMs = 1_000

export async function scheduleTick(deps: ScheduleDeps): Promise<Next> {
  const dueInMs = await deps.store.nextTickInMs()
  if (dueInMs === undefined || dueInMs > 0) return after(Math.min(dueInMs ?? lookEveryMs, lookEveryMs))
  const duty = await deps.control.takeDuty({ name: scheduleDuty, holder: deps.replicaId, forMs: dutyMs })
  if (!duty.mine) return after(duty.untilInMs + Math.random() * jitterMs)
  return (await enqueueDue(deps)) ? atOnce : after(againMs)
}

/** One look at all that is due. Answers whether all went well. */
export async function enqueueDue(deps: TickDeps): Promise<boolean> {
  let well = true
  let last: string | undefined
  for (;;) {
    const due = await deps.store.dueSchedules(last === undefined ? { limit: pageMax } : { after: last, limit: pageMax })
    for (const schedule of due) {
      await enqueueOne(deps, schedule).catch((error: unknown) => {
        well = false
        deps.observe({ type: 'schedule-failed', schedule: schedule.name, error })
      })
    }
    if (due.length < pageMax) return well
    last = due.at(-1)?.name
  }
}

async function enqueueOne(deps: TickDeps, schedule: DueSchedule): Promise<void> {
  const { name, task, payload, options, version, now } = schedule
  const { ticks, next } = dueTicks(schedule, now)
  const { queue, settingsFor } = await deps.findDestination(task)
  const run = { task, payload, ...settingsFor(payload), ...options }
  const enqueued = await deps.store.enqueueTicks({
    schedule: name,
    version,
    seenUntil: now,
    next: next ?? null,
    ticks: ticks.map((tick) => ({ tick, run })),
  })
  if (enqueued === undefined || enqueued.length === 0) return
  const made = enqueued.filter(({ duplicate }) => !duplicate)
  deps.observe({ type: 'schedule-ticked', schedule: name, runIds: made.map(({ id }) => id) })
  await deps.store.wakeQueue(queue).catch(() => {}) // a hint
  deps.onEnqueued()
}
