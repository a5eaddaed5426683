/** Queues: backlog, rates, pause, limits. */
import { z } from 'zod'
import { bounded, count, listOf, ms, name, perSecond, runId, runState, time } from './fields.ts'
import { routes } from './route.ts'

const rates = z.object({
  startedPerS: perSecond,
  succeededPerS: perSecond,
  failedPerS: perSecond,
  retriedPerS: perSecond,
  waitP50Ms: ms.nullable(),
  waitP95Ms: ms.nullable(),
  durationP50Ms: ms.nullable(),
  durationP95Ms: ms.nullable(),
  growthPerS: z.number().nullable(),
})

export const queueView = z.object({
  queue: z.string(),
  ready: bounded,
  claimed: count,
  running: count,
  waiting: z.object({ time: bounded, concurrency: bounded, parents: bounded, task: bounded }),
  oldestReadyMs: ms.nullable(),
  paused: z.boolean(),
  pausedBy: z.string().nullable(),
  pausedAt: time.nullable(),
  pauseReason: z.string().nullable(),
  rates: rates.nullable().describe('Rates of the last 5 complete minutes; null: nothing was recorded.'),
  unserved: z.array(z.string()).describe('Tasks with a ready run that no live node can serve.'),
})
export type QueueView = z.infer<typeof queueView>

const contendedKey = z.object({
  scope: z.string(),
  key: z.string(),
  limit: count,
  waiting: bounded,
  holders: z.array(
    z.object({ runId, status: runState, replicaId: z.string().nullable(), name: z.string().nullable() }),
  ),
})
export type ContendedKey = z.infer<typeof contendedKey>

const queueDetail = queueView.extend({
  tasks: z.array(z.object({ task: z.string(), ready: bounded, nodes: count })),
  groups: z.array(z.object({ group: z.string(), weight: z.number(), ready: bounded })),
  keys: z.array(contendedKey),
})
export type QueueDetail = z.infer<typeof queueDetail>

const changes = z.strictObject({
  limits: z
    .array(z.strictObject({ scope: name, limit: z.int().min(1).max(1_000_000) }))
    .max(20)
    .optional()
    .describe('The number of runs of one concurrency key of a scope that may be live.'),
  weights: z
    .array(z.strictObject({ group: z.string().max(200), weight: z.int().min(1).max(1_000) }))
    .max(100)
    .optional()
    .describe('The number of shares of this queue that a group gets.'),
})

export const queueRoutes = routes({
  'GET /api/queues': { scope: 'read', summary: 'All queues.', answer: listOf(queueView) },
  'GET /api/queues/{queue}': {
    scope: 'read',
    summary: 'One queue with its tasks, groups and contended concurrency keys.',
    answer: queueDetail,
    problems: [404],
  },
  'PATCH /api/queues/{queue}': {
    action: 'set-limits',
    scope: 'admin',
    summary: 'Changes limits of concurrency keys and weights of groups.',
    body: changes,
    answer: z.object({ queue: z.string(), changed: count }),
  },
  'PUT /api/queues/{queue}/pause': {
    action: 'pause-queue',
    scope: 'admin',
    summary: 'Pauses a queue: claims skip it. Running runs continue.',
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    answer: queueDetail,
  },
  'DELETE /api/queues/{queue}/pause': {
    action: 'resume-queue',
    scope: 'admin',
    summary: 'Resumes a queue.',
    answer: queueDetail,
  },
})
