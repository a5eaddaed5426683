/**
 * Enqueues due ticks of schedules. A duty lets one replica at a time do this, which saves work. Two at once are still
 * correct, because only the replica that raises the schedule's version enqueues the tick (schedules/tick.ts).
 *
 * The loop sleeps until the next tick of any schedule by the database's clock, or until a wake says that a schedule has
 * changed. If a tick is due and another replica has the duty, the loop returns when the duty expires: its holder may have
 * died. A schedule that cannot be enqueued does not hold up others, and is retried.
 */
import type { DueSchedule, Store } from '@q/store'
import { dueTicks } from '@q/task'
import type { Observe } from '../events.ts'
import { after, atOnce, type Next } from '../loop.ts'
import type { FindRoute } from './task-routing.ts'

export interface TickDeps {
  readonly store: Pick<Store, 'dueSchedules' | 'enqueueTicks' | 'wakeQueue'>
  readonly routeOf: FindRoute
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
/** Finds schedules that were written with SQL, and those whose wake was lost. */
const pollEveryMs = 10_000
const retryMs = 1_000

export async function scheduleTick(deps: ScheduleDeps): Promise<Next> {
  const dueInMs = await deps.store.nextTickInMs()
  if (dueInMs === undefined || dueInMs > 0) return after(Math.min(dueInMs ?? pollEveryMs, pollEveryMs))
  const duty = await deps.control.takeDuty({ name: scheduleDuty, holder: deps.replicaId, forMs: dutyMs })
  if (!duty.mine) return after(duty.untilInMs + Math.random() * jitterMs)
  return (await enqueueDue(deps)) ? atOnce : after(retryMs)
}

/** Enqueues the due ticks of all schedules. Returns whether all succeeded. */
export async function enqueueDue(deps: TickDeps): Promise<boolean> {
  let succeeded = true
  let last: string | undefined
  for (;;) {
    const due = await deps.store.dueSchedules(last === undefined ? { limit: pageMax } : { after: last, limit: pageMax })
    for (const schedule of due) {
      await enqueueOne(deps, schedule).catch((error: unknown) => {
        succeeded = false
        deps.observe({ type: 'schedule-failed', schedule: schedule.name, error })
      })
    }
    if (due.length < pageMax) return succeeded
    last = due.at(-1)?.name
  }
}

async function enqueueOne(deps: TickDeps, schedule: DueSchedule): Promise<void> {
  const { name, task, payload, options, version, now } = schedule
  const { ticks, next } = dueTicks(schedule, now)
  const { queue, settingsFor } = await deps.routeOf(task)
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
