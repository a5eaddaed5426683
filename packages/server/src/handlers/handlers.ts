/** The handlers of all routes. */
import type { Handlers } from '../http/route-call.ts'
import { destinationHandlers } from './destinations.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { historyHandlers } from './history.ts'
import { nodeHandlers } from './nodes.ts'
import { operationHandlers } from './operations.ts'
import { overviewHandlers } from './overview.ts'
import { queueHandlers } from './queues.ts'
import { recoveryHandlers } from './recoveries.ts'
import { runHandlers } from './runs.ts'
import { scheduleHandlers } from './schedules.ts'
import { workHandlers } from './work/work.ts'
import { workflowHandlers } from './workflows.ts'

export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...overviewHandlers(deps),
    ...queueHandlers(deps),
    ...nodeHandlers(deps),
    ...runHandlers(deps),
    ...operationHandlers(deps),
    ...workflowHandlers(deps),
    ...scheduleHandlers(deps),
    ...historyHandlers(deps),
    ...destinationHandlers(deps),
    ...recoveryHandlers(deps),
    ...workHandlers(deps),
  }
}
