import type { nodeRoutes } from '../api/nodes.ts'
import { conflict, notFound } from '../http/refusal.ts'
import type { Handlers } from '../http/route-call.ts'
import { oneNode } from './find-node.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

export function nodeHandlers({ reads, writes }: HandlerDeps): Handlers<keyof typeof nodeRoutes> {
  return {
    'GET /api/nodes': async ({ query }) => ({ items: await reads.listNodes({ stopped: query.stopped ?? false }) }),
    'GET /api/nodes/{id}': async ({ params }) => {
      const { id } = await oneNode(reads, params.id)
      const detail = await reads.nodeDetail(id)
      if (detail === undefined) throw notFound(`There is no node "${params.id}".`)
      return detail
    },
    'GET /api/nodes/{id}/heartbeat': async ({ params }) => {
      const { id, name } = await oneNode(reads, params.id)
      const heartbeat = await reads.nodeHeartbeat(id)
      if (heartbeat === undefined) throw notFound(`No heartbeat of ${name} is kept.`)
      return heartbeat
    },
    'POST /api/nodes/{id}/drain': async ({ params, body: { deadlineMs, onDeadline }, who, note }) => {
      const node = await oneNode(reads, params.id)
      const { id, name } = node
      note.subject = name
      note.answer = await writes.drainReplica(id, {
        by: who.name,
        ...given({ deadlineMs, onDeadline }),
      })
      if (note.answer === 'not-found') throw left(name)
      return oneNode(reads, id)
    },
    'DELETE /api/nodes/{id}/drain': async ({ params, note }) => {
      const node = await oneNode(reads, params.id)
      const { id, name } = node
      note.subject = name
      note.answer = await writes.undrainReplica(id)
      if (note.answer === 'not-found') throw left(name)
      if (note.answer === 'leaving')
        throw conflict(
          `The drain of ${name} cannot be undone.`,
          'leaving',
          'The node is leaving: its runs have finished, its deadline was reached, or it got a signal.',
        )
      return oneNode(reads, id)
    },
  }
}

function left(name: string) {
  return conflict(`${name} has left.`, 'stopped', 'The node is no longer running.')
}
