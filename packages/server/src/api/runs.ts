/** Lists of runs, enqueueing, and actions on one run. */
import { z } from 'zod'
import { answerOf, bounded, count, jsonValue, ms, name, paging, runId, runState, time } from './fields.ts'
import { logPage, logPlaceText } from './logs.ts'
import { runFilter } from './run-filter.ts'
import { runDetail, runTexts, why } from './run.ts'
import { routes } from './route.ts'

export const runSummary = z.object({
  id: runId,
  task: z.string(),
  queue: z.string(),
  group: z.string(),
  status: runState,
  code: z.string().nullable(),
  detail: z.string().nullable().describe('The first 200 characters of the error of an end that is not a success.'),
  resultText: z.string().nullable().describe('The result of a success, if it is short.'),
  waitingFor: z.string().nullable(),
  priority: z.int(),
  attempt: count,
  maxAttempts: count,
  crashCount: count,
  epoch: count,
  replicaId: z.string().nullable(),
  replicaName: z.string().nullable(),
  workflowId: runId.nullable(),
  uniqueKey: z.string().nullable(),
  progress: z.number().nullable(),
  note: z.string().nullable(),
  cancelRequestedAt: time.nullable(),
  reviewed: z.boolean().nullable().describe('Null: there is nothing to review.'),
  createdAt: time,
  runAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
})
export type RunSummary = z.infer<typeof runSummary>

const looked = {
  lookedBackTo: time.nullable().describe('Creation time of the oldest run that was read.'),
  exhausted: z.boolean().describe('False: older runs were not read; `next` continues there.'),
}

export const runPage = z.object({ runs: z.array(runSummary), next: z.string().optional(), looked: count, ...looked })
export type RunSummaryPage = z.infer<typeof runPage>

const runCount = bounded.extend(looked)
export type RunCount = z.infer<typeof runCount>

const runView = z.enum(['newest', 'running', 'failed', 'waiting', 'review', 'stopping'])
export type RunViewName = z.infer<typeof runView>

const newRun = z.strictObject({
  task: name,
  payload: jsonValue.optional().describe('Default: `{}`.'),
  payloadText: z.string().max(1_048_576).optional().describe('JSON text, instead of `payload`.'),
  delayMs: z.int().min(0).max(31_536_000_000).optional(),
  runAt: time.optional(),
  priority: z.int().min(-32_767).max(32_767).optional(),
  group: z.string().max(200).optional(),
  expiresMs: z.int().min(1).max(31_536_000_000).optional(),
})

const again = z.strictObject({
  payloadText: z.string().max(1_048_576).optional().describe('JSON text of another payload. Default: the same one.'),
})

const one = { params: z.object({ id: runId }), problems: [404] } as const

export const runRoutes = routes({
  'GET /api/runs': {
    scope: 'read',
    summary:
      'Runs by filter, newest first unless the view has another order. Reads a bounded number of runs, and reports how far back it read.',
    query: runFilter.extend({
      ids: z
        .array(runId)
        .min(1)
        .max(100)
        .optional()
        .describe('These runs, in this order; other conditions do not apply.'),
      view: runView.optional(),
      look: z.int().min(1).max(1_000_000).optional().describe('The most runs to read. Default: 50 000.'),
      ...paging,
    }),
    answer: runPage,
  },
  'GET /api/runs/count': {
    scope: 'read',
    summary: 'The number of matching runs, counted up to `max`.',
    query: runFilter.extend({ max: z.int().min(1).max(100_000).optional().describe('Default: 10 000.') }),
    answer: runCount,
  },
  'POST /api/runs': {
    action: 'enqueue',
    scope: 'enqueue',
    summary:
      'Enqueues a run. With the header Idempotency-Key, a repeated request within 24 hours answers the same run.',
    body: newRun,
    status: 201,
    answer: z.object({ runId, status: runState, duplicate: z.boolean() }),
    problems: [422],
  },
  'GET /api/runs/{id}': {
    ...one,
    scope: 'read',
    summary: 'One run with all its details.',
    answer: runDetail,
  },
  'GET /api/runs/{id}/payload': { ...one, scope: 'read', summary: 'The payload, as stored JSON text.', answer: 'text' },
  'GET /api/runs/{id}/result': { ...one, scope: 'read', summary: 'The result, as stored JSON text.', answer: 'text' },
  'GET /api/runs/{id}/why': { ...one, scope: 'read', summary: 'Why the run is not running.', answer: why },
  'GET /api/runs/{id}/logs': {
    ...one,
    scope: 'read',
    summary: 'The log lines of the run, in order.',
    query: z.object({
      after: logPlaceText.optional().describe('`fence.lineNo` of the last line that is known.'),
      limit: z.int().min(1).max(1_000).optional(),
    }),
    answer: logPage,
  },
  'POST /api/runs/{id}/cancel': {
    action: 'cancel',
    scope: 'admin',
    summary: 'Cancels a run: at once if it has not started; otherwise its node stops it.',
    params: one.params,
    answer: answerOf('cancelled', 'requested'),
    problems: [404, 409],
  },
  'POST /api/runs/{id}/retry': {
    action: 'retry',
    scope: 'admin',
    summary: 'Starts an ended run again in a new epoch.',
    params: one.params,
    answer: answerOf('retried'),
    problems: [404, 409],
  },
  'POST /api/runs/{id}/reveal': {
    action: 'reveal',
    scope: 'admin',
    summary: 'The payload, result and checkpoint, including the values that other routes hide.',
    params: one.params,
    answer: runTexts,
    problems: [404],
  },
  'POST /api/runs/{id}/again': {
    action: 'run-again',
    scope: 'admin',
    summary: 'Enqueues a new run like this one, with the same or another payload.',
    params: one.params,
    body: again,
    status: 201,
    answer: z.object({ runId }),
    problems: [404, 422],
  },
})

/** The changing members of a run, for the live stream. */
export const runTick = z.object({
  id: runId,
  status: runState,
  attempt: count,
  fence: count,
  progress: z.number().nullable(),
  note: z.string().nullable(),
  beatAgeMs: ms.nullable(),
  replicaId: z.string().nullable(),
})
export type RunTick = z.infer<typeof runTick>
