/** The audit log: actions of people and programs, with their answers. */
import { z } from 'zod'
import { jsonValue, pageOf, paging, time } from './fields.ts'
import { routes } from './route.ts'

const action = z.object({
  id: z.string(),
  at: time,
  by: z.string(),
  via: z.enum(['page', 'api', 'cli']),
  what: z.string(),
  subject: z.string(),
  detail: jsonValue,
  answer: z.string(),
})
export type Action = z.infer<typeof action>

export const actionRoutes = routes({
  'GET /api/actions': {
    scope: 'read',
    summary: 'Actions, newest first.',
    query: z.object(paging),
    answer: pageOf(action),
  },
})
