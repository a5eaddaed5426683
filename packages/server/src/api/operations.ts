/** Operations on all runs that match a filter. A replica executes them in steps. */
import { z } from 'zod'
import { bounded, count, pageOf, paging, runId, time } from './fields.ts'
import { runFilter } from './run-filter.ts'
import { routes } from './route.ts'
import { runSummary } from './runs.ts'

const kind = z.enum(['retry', 'cancel', 'review'])
export type OperationKind = z.infer<typeof kind>

export const operation = z.object({
  id: z.string(),
  kind,
  filter: z.record(z.string(), z.unknown()),
  askedAt: time,
  askedBy: z.string(),
  state: z.enum(['waiting', 'running', 'stopping', 'stopped', 'done']),
  looked: count,
  changed: count,
  answers: z.record(z.string(), count).describe('The number of runs per answer: `{ "retried": 900, "conflict": 3 }`.'),
  lookedBackTo: runId.nullable(),
  finishedAt: time.nullable(),
  leasedBy: z.string().nullable(),
})
export type Operation = z.infer<typeof operation>

const operationPreview = z.object({
  dryRun: z.literal(true),
  match: bounded,
  samples: z.array(runSummary),
  exhausted: z.boolean().describe('Whether all runs were read; the operation itself reads all of them.'),
  lookedBackTo: time.nullable().describe('When the oldest run that was read was created; null: all were read.'),
})
export type OperationPreview = z.infer<typeof operationPreview>

export const operationRoutes = routes({
  'GET /api/operations': {
    scope: 'read',
    summary: 'Operations, newest first.',
    query: z.object(paging),
    answer: pageOf(operation),
  },
  'GET /api/operations/{id}': {
    scope: 'read',
    summary: 'One operation with its progress.',
    params: z.object({ id: runId }),
    answer: operation,
    problems: [404],
  },
  'POST /api/operations': {
    action: 'start-operation',
    scope: 'admin',
    summary:
      'Retries, cancels or reviews every run that matches now. `dryRun` only counts them and returns three samples.',
    body: z.strictObject({ kind, filter: runFilter.strict(), dryRun: z.boolean().optional() }),
    status: 202,
    answer: z.union([operation, operationPreview]),
  },
  'DELETE /api/operations/{id}': {
    action: 'stop-operation',
    scope: 'admin',
    summary: 'Stops an operation after its current step.',
    params: z.object({ id: runId }),
    answer: operation,
    problems: [404],
  },
})
