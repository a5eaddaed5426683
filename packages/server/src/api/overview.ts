/** The overview for a person on call. */
import { attentionKinds } from '@q/store'
import { z } from 'zod'
import { bounded, count, perSecond, time } from './fields.ts'
import { routes } from './route.ts'

export const overview = z.object({
  at: time,
  slots: z.object({ busy: count, total: count }),
  nodes: z.object({ alive: count, draining: count, stale: count }),
  ready: bounded,
  running: count,
  succeededPerS: perSecond.nullable(),
  failedPerS: perSecond.nullable(),
  toReview: bounded,
  errorGroups: bounded,
})
export type Overview = z.infer<typeof overview>

const attention = z.object({
  kind: z.enum(attentionKinds),
  level: z.enum(['bad', 'warn', 'note']),
  subject: z.string(),
  sentence: z.string(),
  detail: z.string().nullable(),
  command: z.string(),
  page: z.string(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
})
export type Attention = z.infer<typeof attention>

export const attentionList = z.object({ at: time, checks: count, items: z.array(attention) })
export type AttentionList = z.infer<typeof attentionList>

export const overviewRoutes = routes({
  'GET /api/overview': { scope: 'read', summary: 'Totals of the whole system.', answer: overview },
  'GET /api/attention': {
    scope: 'read',
    summary: 'Items that need a person, the most harmful first.',
    answer: attentionList,
  },
})
