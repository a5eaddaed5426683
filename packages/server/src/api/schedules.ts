/** Schedules: runs by the clock. */
import { z } from 'zod'
import { answerOf, jsonValue, listOf, name, runId, runState, time } from './fields.ts'
import { routes } from './route.ts'

const runOptions = z.object({
  priority: z.int().min(-32_767).max(32_767).optional(),
  group: z.string().max(200).optional(),
  expiresInMs: z.int().min(1).optional(),
})
const next = z.array(time).describe('The next 5 ticks by its pattern.')
const words = z.string().describe('The pattern in English; the pattern itself where it cannot be said.')
const missed = z.enum(['skip', 'one', 'all'])

const schedule = z.object({
  name: z.string(),
  task: z.string(),
  cron: z.string(),
  timezone: z.string(),
  missed,
  payload: jsonValue,
  options: runOptions,
  lastTick: time.nullable(),
  nextTick: time.nullable(),
  pausedAt: time.nullable(),
  pausedBy: z.string().nullable(),
  isOwn: z.boolean().describe('Declared by the code of its task.'),
})
export type Schedule = z.infer<typeof schedule>

const scheduleTick = z.object({
  tick: time,
  runId,
  status: runState,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  code: z.string().nullable(),
})
export type ScheduleTick = z.infer<typeof scheduleTick>

const scheduleDetail = z.object({
  schedule,
  ticks: z.array(scheduleTick).describe('The last 20, newest first.'),
  next,
  words,
})
export type ScheduleDetail = z.infer<typeof scheduleDetail>

const put = z.strictObject({
  task: name,
  cron: z.string().min(1).max(200),
  timezone: z.string().max(100).optional().describe('Default: UTC.'),
  missed: missed.optional(),
  payload: jsonValue.optional(),
  options: runOptions.strict().optional(),
})

const order = { scope: 'admin', problems: [404] } as const

export const scheduleRoutes = routes({
  'GET /api/schedules': { scope: 'read', summary: 'All schedules.', answer: listOf(schedule.extend({ next, words })) },
  'GET /api/schedules/{name}': {
    scope: 'read',
    summary: 'One schedule with its last and next ticks.',
    answer: scheduleDetail,
    problems: [404],
  },
  'PUT /api/schedules/{name}': {
    action: 'put-schedule',
    scope: 'admin',
    summary: 'Creates or changes a schedule.',
    body: put,
    answer: schedule,
    problems: [422],
  },
  'DELETE /api/schedules/{name}': {
    action: 'remove-schedule',
    ...order,
    summary: 'Removes a schedule; its runs stay.',
    answer: answerOf('removed'),
  },
  'POST /api/schedules/{name}/run': {
    action: 'run-schedule',
    ...order,
    summary: 'Enqueues one run now, in addition to its ticks.',
    status: 201,
    answer: z.object({ runId }),
  },
  'POST /api/schedules/{name}/pause': {
    action: 'pause-schedule',
    ...order,
    summary: 'Pauses a schedule.',
    answer: answerOf('paused'),
  },
  'POST /api/schedules/{name}/resume': {
    action: 'resume-schedule',
    ...order,
    summary: 'Resumes a schedule; it ticks from now on.',
    answer: answerOf('resumed'),
  },
})
