/** Deliveries to destinations: reports that wait, arrived or failed. */
import { z } from 'zod'
import { answerOf, count, pageOf, paging, runId, time } from './fields.ts'
import { routes } from './route.ts'

const delivery = z.object({
  id: z.string(),
  destination: z.string(),
  kind: z.string(),
  runId: runId.nullable(),
  createdAt: time,
  attempts: count,
  dueAt: time.nullable(),
  deliveredAt: time.nullable(),
  lastError: z.string().nullable(),
})
export type Delivery = z.infer<typeof delivery>

export const deliveryRoutes = routes({
  'GET /api/deliveries': {
    scope: 'read',
    summary: 'Deliveries, newest first; with `givenUp` only deliveries that were given up.',
    query: z.object({ givenUp: z.boolean().optional(), destination: z.string().max(100).optional(), ...paging }),
    answer: pageOf(delivery),
  },
  'POST /api/deliveries/{id}/redeliver': {
    action: 'redeliver',
    scope: 'admin',
    summary:
      'Sends a report again under the same id, unless a newer one about the same run was delivered or is being sent.',
    params: z.object({ id: runId }),
    answer: answerOf('due'),
    problems: [404, 409],
  },
})
