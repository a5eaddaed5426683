/** The routes of recoveries: their history, one review, and the recovery that a person requests. */
import type { recoveryRoutes } from '../api/recoveries.ts'
import type { Handlers } from '../http/route-call.ts'
import { oneNode } from './find-node.ts'
import { given } from './given.ts'
import type { HandlerDeps } from './handler-deps.ts'

/**
 * The server sends no heartbeats, so it cannot know from its own whether the database accepts any. It relies on those
 * of all replicas: a threshold applies once heartbeats have been accepted for that long.
 */
const trustingReplicas = { thresholdMsMax: 0, sharedMsMax: Number.MAX_SAFE_INTEGER }

export function recoveryHandlers({ reads, writes }: HandlerDeps): Handlers<keyof typeof recoveryRoutes> {
  return {
    'GET /api/recoveries': async ({ query: { cursor, node, ...request }, cursors }) => {
      const { cursor: before } = cursors.open(cursor)
      const { items, next } = await reads.listRecoveries({
        ...given({ ...request, before }),
        ...(node === undefined ? {} : { node: (await oneNode(reads, node)).id }),
      })
      return { items, ...cursors.seal(next) }
    },
    'POST /api/recoveries/review': async ({ body, who, note }) => {
      const reviewed = await writes.reviewRecoveries({ ...body, by: who.name })
      note.answer = `${reviewed} reviewed`
      return { reviewed }
    },
    'GET /api/stale': async () => ({ items: await reads.getStaleTaskRuns(trustingReplicas) }),
    'POST /api/recover': async ({ body: { dryRun = false, force = false }, who, note }) => {
      const question = force ? {} : trustingReplicas
      if (dryRun) {
        const ids = (await reads.getStaleTaskRuns(question)).map(({ id }) => id)
        note.answer = 'counted'
        return { dryRun, ids, count: ids.length }
      }
      const { ids, count } = await writes.reap({ ...question, by: who.name })
      note.answer = `${count} recovered`
      return { dryRun, ids, count }
    },
  }
}
