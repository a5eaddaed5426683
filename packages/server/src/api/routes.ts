/** The table of all routes. */
import { z } from 'zod'
import { actionRoutes } from './actions.ts'
import { deliveryRoutes } from './deliveries.ts'
import { destinationRoutes } from './destinations.ts'
import { errorRoutes } from './errors.ts'
import { eventRoutes } from './events.ts'
import { laneRoutes } from './lanes.ts'
import { metricsRoutes } from './metrics.ts'
import { nodeRoutes } from './nodes.ts'
import { operationRoutes } from './operations.ts'
import { overviewRoutes } from './overview.ts'
import { queueRoutes } from './queues.ts'
import { recoveryRoutes } from './recoveries.ts'
import { routes } from './route.ts'
import { runRoutes } from './runs.ts'
import { scheduleRoutes } from './schedules.ts'
import { seriesRoutes } from './series.ts'
import { sessionRoutes } from './session.ts'
import { taskRoutes } from './tasks.ts'
import { workRoutes } from './work.ts'
import { workflowRoutes } from './workflows.ts'

const documentRoutes = routes({
  'GET /api/openapi.json': {
    scope: 'read',
    summary: 'This document.',
    answer: z.record(z.string(), z.unknown()),
  },
})

export const apiRoutes = {
  ...sessionRoutes,
  ...overviewRoutes,
  ...seriesRoutes,
  ...queueRoutes,
  ...nodeRoutes,
  ...laneRoutes,
  ...runRoutes,
  ...operationRoutes,
  ...workflowRoutes,
  ...scheduleRoutes,
  ...errorRoutes,
  ...recoveryRoutes,
  ...destinationRoutes,
  ...deliveryRoutes,
  ...workRoutes,
  ...taskRoutes,
  ...actionRoutes,
  ...eventRoutes,
  ...metricsRoutes,
  ...documentRoutes,
} as const
export type ApiRoutes = typeof apiRoutes
export type ApiKey = keyof ApiRoutes
