/** Deliveries to destinations: reports that wait, arrived or failed. */
import { z } from 'zod'
import { count, pageOf, paging, runId, time } from './fields.ts'
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
    summary: 'Deliveries, newest first; with `givenUp` only those that no retry follows.',
    query: z.object({ givenUp: z.boolean().optional(), ...paging }),
    answer: pageOf(delivery),
  },
})
