/**
 * Runs by the clock, made by hand: `q.schedule('nightly', { task: 'report', cron: '0 9 * * *' })`. Stored in the
 * database, so it ticks as long as any replica lives, whether or not this process does. Said again it is the same
 * schedule; with another pattern it counts from now on.
 *
 * A schedule that a task's own code declares is named `task:<task>`: it can be paused, resumed and run like any other.
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

/** What its runs are given. Default: `{}`, where that is one. */
type PayloadMember<Payload> = object extends Payload ? { readonly payload?: Payload } : { readonly payload: Payload }

type AnySchedule = ScheduleOptions & TickOptions & { readonly task: string; readonly payload?: unknown }

export interface Schedules<Tasks> {
  /** Makes a schedule, or makes it what is asked for here. Durable when it resolves. */
  schedule<Name extends TaskName<Tasks>>(name: string, schedule: NewSchedule<Tasks, Name>): Promise<void>
  /** Whether there was one. What it has enqueued stays. */
  unschedule(name: string): Promise<boolean>
  /** All of them, by name, with their last and next tick. */
  schedules(): Promise<Schedule[]>
  /** Nothing ticks until it is resumed; what would have ticked meanwhile is not made up for. */
  pauseSchedule(name: string, by?: string): Promise<void>
  resumeSchedule(name: string): Promise<void>
  /** One run now, beside its ticks; also while it is paused. */
  runScheduleNow<Name extends TaskName<Tasks>>(name: string): Promise<RunHandle<ResultFor<Tasks, Name>>>
}

export interface ScheduleDeps {
  readonly store: Store
  readonly enqueue: (task: string, payload: unknown, options: RunOptions) => Promise<RunHandle<never>>
}

export function createSchedules<Tasks>({ store, enqueue }: ScheduleDeps): Schedules<Tasks> {
  return {
    async schedule(name, wish) {
      // What the types of the tasks say about it is of no interest here.
      const { task, payload = {}, priority, group, expires, ...when } = wish as AnySchedule
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
  return unknown.map((key) => `${key}: no such option; there are ${known.join(', ')}`)
}

function wrongTime(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_INVALID',
    what: 'A schedule cannot be kept; nothing was changed.',
    why: `${problems.length === 0 ? 'It has neither cron nor every' : problems.join('; ')}.`,
    fix: "Write { task, cron: '0 9 * * *', timezone: 'Europe/Berlin' } or { task, every: '5m' }.",
  })
}

function notFound(name: string): ExplainedError {
  return new ExplainedError({
    code: 'SCHEDULE_NOT_FOUND',
    what: `There is no schedule "${name}".`,
    why: 'Nobody made it in this database, or it was removed. The one a task declares itself is named task:<task>.',
    fix: 'q.schedules() lists all of them.',
  })
}
