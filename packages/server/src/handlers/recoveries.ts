/** The routes of recoveries: their history, one review, and the recovery that a person requests. */
import type { RunId, Store } from '@q/store'
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
        const ids = idsOf(await reads.getStaleTaskRuns(question))
        note.answer = 'counted'
        const rest = force ? null : await leftAlone(reads, ids)
        return { dryRun, ids, count: ids.length, leftAlone: rest, stuck: [], locked: [] }
      }
      const { ids, count, stuck = [] } = await writes.reap({ ...question, by: who.name })
      note.answer = `${count} recovered`
      const still = idsOf(await reads.getStaleTaskRuns(question))
      const stuckIds = stuck.map(({ id }) => id)
      const locked = still.filter((id) => !stuckIds.includes(id))
      return { dryRun, ids, count, leftAlone: force ? null : await leftAlone(reads, still), stuck: stuckIds, locked }
    },
  }
}

function idsOf(runs: readonly { readonly id: RunId }[]): RunId[] {
  return runs.map(({ id }) => id)
}

const leftAloneMax = 100

/** Runs that are stale by heartbeats alone, while the database has accepted none lately: every node may be dead, or cut off. */
async function leftAlone(reads: Store, judged: readonly RunId[]) {
  const known = new Set(judged)
  const ids = idsOf(await reads.getStaleTaskRuns({})).filter((id) => !known.has(id))
  if (ids.length === 0) return null
  return {
    ids: ids.slice(0, leftAloneMax),
    count: ids.length,
    why: 'The database has accepted no heartbeat for a whole threshold, as after an outage: every node may be dead, or cut off.',
    fix: 'A node that starts recovers them when it has observed the silence itself. If every node is dead, send `force`.',
  }
}
