/** A figure over time. */
import { z } from 'zod'
import { listOf, name, time } from './fields.ts'
import { routes } from './route.ts'

const percentile = z.number().nullable().optional()
const rate = z.number().optional().describe('Runs per second; absent when the bucket began too recently to know.')

const seriesPoint = z.object({
  at: time,
  partial: z.boolean().describe('The bucket has not ended yet.'),
  started: rate,
  succeeded: rate,
  failed: rate,
  retried: rate,
  cancelled: rate,
  crashed: rate,
  p50: percentile,
  p95: percentile,
  p99: percentile,
  value: z.number().nullable().optional(),
})
export type SeriesPoint = z.infer<typeof seriesPoint>

const metric = z.enum(['rate', 'wait', 'duration', 'oldest', 'ready'])
export type SeriesMetric = z.infer<typeof metric>

const seriesQuery = z.object({
  metric,
  queue: name.optional(),
  task: name.optional(),
  from: time.optional().describe('Default: one hour before `to`.'),
  to: time.optional().describe('Default: now.'),
  points: z.int().min(2).max(300).optional().describe('Default: 60.'),
})

export const seriesRoutes = routes({
  'GET /api/series': {
    scope: 'read',
    summary: 'One figure over time, at most 300 points.',
    query: seriesQuery,
    answer: listOf(seriesPoint),
  },
})
