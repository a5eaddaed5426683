import type { Schedule } from '@q/store'
import { nextTick } from '@q/task'
import type { scheduleRoutes } from '../api/schedules.ts'
import { notFound } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import { cronWords } from './cron-words.ts'
import type { HandlerDeps } from './handler-deps.ts'

export function scheduleHandlers({ reads, writes, queue }: HandlerDeps): Handlers<keyof typeof scheduleRoutes> {
  const one = async (name: string) => {
    const schedule = await reads.getSchedule(name)
    if (schedule === undefined) throw noSchedule(name)
    return schedule
  }
  return {
    'GET /api/schedules': async () => {
      const schedules = await reads.listSchedules()
      return {
        items: await Promise.all(
          schedules.map(async (schedule) => ({
            ...schedule,
            next: nextTicks(schedule),
            words: await cronWords(schedule.cron),
          })),
        ),
      }
    },
    'GET /api/schedules/{name}': async ({ params }) => {
      const schedule = await one(params.name)
      const ticks = await reads.scheduleTicks(params.name, 20)
      return { schedule, ticks, next: nextTicks(schedule), words: await cronWords(schedule.cron) }
    },
    'PUT /api/schedules/{name}': async ({ params: { name }, body: { task, payload, options = {}, ...when }, note }) => {
      note.detail = { task, ...when }
      const { expiresInMs: expires, ...rest } = options
      await queue.schedule(name, { task, ...given({ payload, ...when, ...rest, expires }) })
      return one(name)
    },
    'DELETE /api/schedules/{name}': async ({ params: { name }, note }) => {
      const answer = await writes.removeSchedule(name)
      note.answer = answer
      if (answer === 'not-found') throw noSchedule(name)
      return { answer }
    },
    'POST /api/schedules/{name}/run': async ({ params: { name }, who, note }) => {
      const run = await writes.runScheduleNow(name, { by: who.name })
      if (run === 'not-found') throw noSchedule(name)
      note.answer = `run ${run.runId}`
      return run
    },
    'POST /api/schedules/{name}/pause': async ({ params: { name }, who, note }) => {
      const answer = await writes.pauseSchedule(name, who.name)
      note.answer = answer
      if (answer === 'not-found') throw noSchedule(name)
      return { answer }
    },
    'POST /api/schedules/{name}/resume': async ({ params: { name }, note }) => {
      const answer = await writes.resumeSchedule(name)
      note.answer = answer
      if (answer === 'not-found') throw noSchedule(name)
      return { answer }
    },
  }
}

const ticksShown = 5

function nextTicks({ cron, timezone, nextTick: first, pausedAt }: Schedule): Date[] {
  const ticks: Date[] = []
  if (pausedAt !== null) return ticks
  for (
    let tick = first ?? undefined;
    tick !== undefined && ticks.length < ticksShown;
    tick = nextTick({ cron, timezone }, tick)
  ) {
    ticks.push(tick)
  }
  return ticks
}

function noSchedule(name: string) {
  return notFound(`There is no schedule "${name}".`)
}
