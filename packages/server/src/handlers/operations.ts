import type { operationRoutes } from '../api/operations.ts'
import { notFound } from '../http/refusal.ts'
import { Reply, type Handlers } from '../http/route-call.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { storeFilter } from './store-filter.ts'

export function operationHandlers({ reads, writes }: HandlerDeps): Handlers<keyof typeof operationRoutes> {
  const one = async (id: string) => {
    const operation = await reads.getOperation(id)
    if (operation === undefined) throw notFound(`There is no operation ${id}.`)
    return operation
  }
  return {
    'GET /api/operations': async ({ query: { cursor, ...page }, cursors }) => {
      const { items, next } = await reads.listOperations({ ...given(page), ...cursors.open(cursor) })
      return { items, ...cursors.seal(next) }
    },
    'GET /api/operations/{id}': ({ params }) => one(params.id),
    'POST /api/operations': async ({ body: { kind, filter, dryRun = false }, who, note }) => {
      const ofStore = await storeFilter(reads, filter)
      note.subject = kind
      if (dryRun) {
        note.answer = 'counted'
        const { match, samples, exhausted, lookedBackTo } = await reads.previewOperation(kind, ofStore)
        return { dryRun: true as const, match, samples, exhausted, lookedBackTo }
      }
      const operation = await writes.requestOperation({ kind, filter: ofStore, by: who.name })
      note.answer = `operation ${operation.id}`
      return new Reply(operation, { headers: { Location: `/api/operations/${operation.id}` } })
    },
    'DELETE /api/operations/{id}': async ({ params, note }) => {
      note.answer = await writes.stopOperation(params.id)
      return one(params.id)
    },
  }
}
