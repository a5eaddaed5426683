/**
 * Schedules that a program creates: `q.schedule('nightly', { task: 'report', cron: '0 9 * * *' })`. The database stores
 * them, so they tick while any replica is alive, with or without this process. A second call with the same name updates the
 * schedule; a new pattern counts from that time on.
 *
 * A schedule that a task declares in its options is named `task:<task>`; it can be paused, resumed and run like any other.
 */
import { ExplainedError } from '@q/schema'
import type { Schedule, Store } from '@q/store'
import { durationMs, scheduleData, scheduleProblems } from '@q/task'
import type { PayloadOf, ScheduleOptions, TaskName, TasksOf } from '@q/task'
import type { RunHandle } from './handle.ts'
import type { RunOptions } from './enqueue-options.ts'
import type { ResultFor } from './verbs.ts'

type TickOptions = Pick<RunOptions, 'priority' | 'group' | 'expires'>

export type NewSchedule<Tasks, Name extends TaskName<Tasks>> = ScheduleOptions &
  TickOptions &
  PayloadMember<PayloadOf<TasksOf<Tasks>[Name]>> & { readonly task: Name }

/** The payload of the runs. Default: `{}`, if the task accepts it. */
type PayloadMember<Payload> = object extends Payload ? { readonly payload?: Payload } : { readonly payload: Payload }

type AnySchedule = ScheduleOptions & TickOptions & { readonly task: string; readonly payload?: unknown }

export interface Schedules<Tasks> {
  /** Creates or updates a schedule. Durable when it resolves. */
  schedule<Name extends TaskName<Tasks>>(name: string, schedule: NewSchedule<Tasks, Name>): Promise<void>
  /** Removes a schedule; its runs stay. Resolves to whether it existed. */
  unschedule(name: string): Promise<boolean>
  /** All schedules, sorted by name, with their last and next tick. */
  schedules(): Promise<Schedule[]>
  /** Stops the ticks until the schedule is resumed; ticks of the pause are not made up. */
  pauseSchedule(name: string, by?: string): Promise<void>
  resumeSchedule(name: string): Promise<void>
  /** Enqueues one run now, in addition to the ticks, even while the schedule is paused. */
  runScheduleNow<Name extends TaskName<Tasks>>(name: string): Promise<RunHandle<ResultFor<Tasks, Name>>>
}

interface ScheduleDeps {
  readonly store: Store
  readonly enqueue: (task: string, payload: unknown, options: RunOptions) => Promise<RunHandle<never>>
}

export function createSchedules<Tasks>({ store, enqueue }: ScheduleDeps): Schedules<Tasks> {
  return {
    async schedule(name, schedule) {
      const { task, payload = {}, priority, group, expires, ...when } = schedule as AnySchedule
      const problems = [...unknownOptions(when), ...scheduleProblems(when)]
      const time = problems.length === 0 ? scheduleData(when) : undefined
      if (time === undefined) throw wrongTime(problems)
      const options = {
        ...(priority === undefined ? {} : { priority }),
        ...(group === undefined ? {} : { group }),
        ...(expires === undefined ? {} : { expiresInMs: durationMs(expires) }),
      }
      await store.putSchedule({ name, task, payload, options, ...time })
    },
    unschedule: async (name) => (await store.removeSchedule(name)) === 'removed',
    schedules: () => store.listSchedules(),
    async pauseSchedule(name, by = 'a client') {
      if ((await store.pauseSchedule(name, by)) === 'not-found') throw notFound(name)
    },
    async resumeSchedule(name) {
      if ((await store.resumeSchedule(name)) === 'not-found') throw notFound(name)
    },
    async runScheduleNow(name) {
      const schedule = await store.getSchedule(name)
      if (schedule === undefined) throw notFound(name)
      const { expiresInMs: expires, ...options } = schedule.options
      return enqueue(schedule.task, schedule.payload, expires === undefined ? options : { ...options, expires })
    },
  }
}

const times: Record<keyof ScheduleOptions, true> = { cron: true, every: true, timezone: true, missed: true }

function unknownOptions(when: ScheduleOptions): string[] {
  const unknown = Object.keys(when).filter((key) => !Object.hasOwn(times, key))
  const known = ['task', 'payload', ...Object.keys(times), 'priority', 'group', 'expires']
  return unknown.map((key) => `${key}: no such option; the options are ${known.join(', ')}`)
}

function wrongTime(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_INVALID',
    what: 'The schedule is invalid; nothing was changed.',
    why: `${problems.length === 0 ? 'It has neither cron nor every' : problems.join('; ')}.`,
    fix: "Write { task, cron: '0 9 * * *', timezone: 'Europe/Berlin' } or { task, every: '5m' }.",
  })
}

function notFound(name: string): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_NOT_FOUND',
    what: `There is no schedule "${name}".`,
    why: 'It was never created in this database, or it was removed. A schedule that a task declares is named task:<task>.',
    fix: 'List the schedules with q.schedules().',
  })
}
