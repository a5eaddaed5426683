/** Runs by the clock. The contracts are here; each law is in the file of its verb. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import type { EnqueuedRun } from '../runs/new-run.ts'
import { pauseSchedule, removeSchedule, resumeSchedule } from '../schedules/change.ts'
import { dueSchedules, nextTickInMs, type DueSchedule } from '../schedules/due.ts'
import { publishSchedules, putSchedule, type OwnSchedule, type PutAnswer } from '../schedules/put.ts'
import { getSchedule, listSchedules } from '../schedules/read.ts'
import type { Schedule, ScheduleWish } from '../schedules/schedule.ts'
import { enqueueTicks, type Ticking } from '../schedules/tick.ts'

export interface ScheduleVerbs {
  // ---- Schedules

  /**
   * Makes a schedule, or makes it what is asked for; a new pattern counts from now on.
   * What says the same as before changes nothing. The caller has checked the pattern.
   */
  putSchedule(wish: ScheduleWish): Promise<PutAnswer>

  /**
   * What the code of a replica declares, of every task it knows: made, changed, or taken away where there is none any more.
   * The last replica to start wins: it has the newest code.
   */
  publishSchedules(replicaId: string, own: readonly OwnSchedule[]): Promise<void>

  /**
   * Nothing ticks until it is resumed.
   * What would have ticked meanwhile is not missed.
   */
  pauseSchedule(name: string, by: string): Promise<'paused' | 'not-found'>

  /**
   * It ticks again, counted from now.
   * One that is not paused stays as it is.
   */
  resumeSchedule(name: string): Promise<'resumed' | 'not-found'>

  /**
   * The schedule is gone; its runs stay.
   * One that a task declares comes back with the next replica that starts.
   */
  removeSchedule(name: string): Promise<'removed' | 'not-found'>

  /**
   * Schedules of which a tick is due by the database's clock, or whose next one is not reckoned, by name, in pages.
   * With the version that `enqueueTicks` must be shown.
   */
  dueSchedules(page: { after?: string; limit: number }): Promise<DueSchedule[]>

  /**
   * When the next tick of any schedule is due, in ms by the database's clock.
   * Undefined: none waits for one.
   */
  nextTickInMs(): Promise<number | undefined>

  /**
   * Ticks become runs in the transaction that says they are dealt with: by one, however many look.
   * Undefined: the schedule has changed since it was read, and nothing was done.
   */
  enqueueTicks(ticking: Ticking): Promise<EnqueuedRun[] | undefined>

  /**
   * All schedules, with last and next tick.
   * By name.
   */
  listSchedules(): Promise<Schedule[]>

  /**
   * One schedule by name.
   * That of a task's own code is named `task:` and the task.
   */
  getSchedule(name: string): Promise<Schedule | undefined>
}

export function scheduleVerbs(db: Kysely<DB>): ScheduleVerbs {
  return {
    putSchedule: (wish) => putSchedule(db, wish),
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
