import type { queueRoutes } from '../api/queues.ts'
import { notFound } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import type { HandlerDeps } from './handler-deps.ts'

export function queueHandlers({ reads, writes }: HandlerDeps): Handlers<keyof typeof queueRoutes> {
  const detail = async (name: string) => {
    const queue = await reads.getQueue(name)
    if (queue === undefined) throw notFound(`There is no queue "${name}".`)
    return queue
  }
  return {
    'GET /api/queues': async () => ({ items: await reads.listQueues() }),
    'GET /api/queues/{queue}': ({ params }) => detail(params.queue),
    'PATCH /api/queues/{queue}': async ({ params: { queue }, body: { limits = [], weights = [] } }) => {
      for (const { scope, limit } of limits) await writes.setConcurrencyLimit(scope, limit)
      for (const { group, weight } of weights) await writes.setGroupWeight({ queue, group }, weight)
      return { queue, changed: limits.length + weights.length }
    },
    'PUT /api/queues/{queue}/pause': async ({ params: { queue }, body: { reason }, who, note }) => {
      await writes.pauseQueue(queue, who.name, reason)
      note.answer = 'paused'
      return detail(queue)
    },
    'DELETE /api/queues/{queue}/pause': async ({ params: { queue }, note }) => {
      await writes.resumeQueue(queue)
      note.answer = 'resumed'
      return detail(queue)
    },
  }
}
