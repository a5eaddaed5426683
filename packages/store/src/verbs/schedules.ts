/**
 * Schedules, which enqueue runs by the clock: the contracts of the verbs. The rules of each verb are in its own file.
 */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { EnqueuedRun } from '../runs/new-run.ts'
import { pauseSchedule, removeSchedule, resumeSchedule } from '../schedules/change.ts'
import { dueSchedules, nextTickInMs, type DueSchedule } from '../schedules/due.ts'
import { publishSchedules, putSchedule, type OwnSchedule, type PutAnswer } from '../schedules/put.ts'
import { getSchedule, listSchedules } from '../schedules/read.ts'
import type { Schedule, ScheduleInput } from '../schedules/schedule.ts'
import { enqueueTicks, type ScheduleAdvance } from '../schedules/tick.ts'

export interface ScheduleVerbs {
  // ---- Schedules

  /**
   * Creates or changes a schedule; a new pattern counts from now on. An identical schedule changes nothing. The caller
   * has checked the pattern.
   */
  putSchedule(input: ScheduleInput): Promise<PutAnswer>

  /**
   * Creates, changes or removes the schedules that the code of a replica declares for the tasks it knows.
   * The last replica to start wins: it has the newest code.
   */
  publishSchedules(replicaId: string, own: readonly OwnSchedule[]): Promise<void>

  /**
   * Pauses a schedule: it does not tick until it is resumed.
   * Ticks during the pause do not count as missed.
   */
  pauseSchedule(name: string, by: string): Promise<'paused' | 'not-found'>

  /**
   * Resumes a schedule: it ticks again, counted from now.
   * A schedule that is not paused does not change.
   */
  resumeSchedule(name: string): Promise<'resumed' | 'not-found'>

  /**
   * Deletes a schedule; its runs stay.
   * A schedule that a task declares comes back with the next replica that starts.
   */
  removeSchedule(name: string): Promise<'removed' | 'not-found'>

  /**
   * Returns schedules with a tick that is due by the database's clock, or whose next tick is not computed, by name, in
   * pages.
   * With the version that `enqueueTicks` must present.
   */
  dueSchedules(page: { after?: string; limit: number }): Promise<DueSchedule[]>

  /**
   * Returns in how many ms the next tick of any schedule is due, by the database's clock.
   * Undefined if no schedule waits for a tick.
   */
  nextTickInMs(): Promise<number | undefined>

  /**
   * Enqueues the runs of ticks in the transaction that marks the ticks as done: exactly one caller succeeds.
   * Undefined if the schedule has changed since it was read; then nothing was done.
   */
  enqueueTicks(ticking: ScheduleAdvance): Promise<EnqueuedRun[] | undefined>

  /**
   * Returns all schedules, with last and next tick.
   * Sorted by name.
   */
  listSchedules(): Promise<Schedule[]>

  /**
   * Returns one schedule by name.
   * A schedule that a task declares is named `task:` and the task.
   */
  getSchedule(name: string): Promise<Schedule | undefined>
}

export function scheduleVerbs(db: Kysely<DB>): ScheduleVerbs {
  return {
    putSchedule: (input) => putSchedule(db, input),
    publishSchedules: (replicaId, own) => publishSchedules(db, replicaId, own),
    pauseSchedule: (name, by) => pauseSchedule(db, name, by),
    resumeSchedule: (name) => resumeSchedule(db, name),
    removeSchedule: (name) => removeSchedule(db, name),
    dueSchedules: (page) => dueSchedules(db, page),
    nextTickInMs: () => nextTickInMs(db),
    enqueueTicks: (ticking) => enqueueTicks(db, ticking),
    listSchedules: () => listSchedules(db),
    getSchedule: (name) => getSchedule(db, name),
  }
}
