/** Opens the gates of an inline replica: each call does at once what a replica does in loops. */
import { ExplainedError } from '@q/schema'
import type { RunId, Store } from '@q/store'
import { enqueueDue } from '../main/claim/schedule.ts'
import type { FindRoute } from '../main/claim/task-routing.ts'
import type { Observe } from '../main/events.ts'
import { withVirtualClock, type VirtualClock } from './virtual-clock.ts'

export const batchMax = 500

export interface DueScheduleDeps {
  readonly store: Store
  readonly routeOf: FindRoute
  readonly observe: Observe
}

/** Enqueues the ticks that are due by this clock. Rejects if one cannot be enqueued, because only the test can correct it. */
export async function enqueueDueSchedules(
  { store, routeOf, observe }: DueScheduleDeps,
  clock: VirtualClock,
): Promise<void> {
  const failures: ExplainedError[] = []
  const noting: Observe = (event) => {
    if (event.type === 'schedule-failed') failures.push(notEnqueued(event.schedule, event.error))
    observe(event)
  }
  await enqueueDue({ store: withVirtualClock(store, clock), routeOf, observe: noting, onEnqueued: () => {} })
  const [failed] = failures
  if (failed !== undefined) throw failed
}

/** Expires the runs that did not start before their deadline, and returns them. */
export async function expireAll(store: Store): Promise<RunId[]> {
  const batch = await store.expireTaskRuns(batchMax)
  return batch.length < batchMax ? batch : [...batch, ...(await expireAll(store))]
}

export async function promoteAllDue(store: Store): Promise<void> {
  while ((await store.promoteDueTaskRuns(batchMax)).looked === batchMax);
}

function notEnqueued(schedule: string, cause: unknown): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_FAILED',
    what: `A tick of the schedule "${schedule}" could not be enqueued.`,
    why: cause instanceof Error ? cause.message : String(cause),
    fix: 'Replace the schedule with q.schedule() under the same name and a payload that its task accepts, or remove it with q.unschedule().',
    cause,
  })
}
