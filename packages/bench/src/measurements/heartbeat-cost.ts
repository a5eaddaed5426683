/** Measures the cost of one sign of life to the code that gives it. */
import { heartbeatNames } from '../heartbeat-cost/heartbeat-task.ts'
import { measureHeartbeatCost } from '../heartbeat-cost/measure-heartbeat-cost.ts'
import { qRetry } from './entrants.ts'
import type { Measurement } from './measurement.ts'

export const heartbeatCost: Measurement = {
  name: 'heartbeat-cost',
  title: 'Signs of life',
  method: 'The time of one call in the code of a task, on a worker thread.',
  entrants: [qRetry],
  figures: heartbeatNames.map((name) => ({ key: name, title: `\`${name}\`, ns`, better: 'less' })),
  once: true,
  async sample({ server, sizes }, { contender }) {
    await using database = await server.database(contender)
    return await measureHeartbeatCost(database.url, sizes.signCalls)
  },
}
