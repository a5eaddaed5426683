/**
 * Enqueues work of several tasks and tenants as fast as the fleet executes it, so that the backlog stays small enough
 * to watch.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { queue } from '@q/client'
import type * as tasks from './demo-tasks.ts'
import { publish } from './publish.ts'

export interface Produced {
  /** Ids of all runs whose enqueue was acknowledged. */
  readonly runIds: readonly string[]
  readonly workflows: number
}

const tenants = ['acme', 'globex', 'initech']
const backlogMax = 40
const roundMs = 500
const runsPerRound = 6
const roundsPerWorkflow = 20

/** Enqueues until the signal aborts. A round that fails is repeated: the database may be busy. */
export async function produce(databaseUrl: string, signal: AbortSignal): Promise<Produced> {
  const q = queue<typeof tasks>(databaseUrl)
  const runIds: string[] = []
  let workflows = 0
  try {
    await q.schedule('refresh report', { task: 'refreshReport', every: '5s' })
    await q.setGroupWeight({ group: 'acme' }, 2)
    for (let round = 0; !signal.aborted; round++) {
      const { runs } = await q.list({ status: ['AVAILABLE'] }, { limit: backlogMax })
      if (runs.length < backlogMax) {
        for (const run of await enqueueSome(round)) runIds.push(run.id)
        if (round % roundsPerWorkflow === 0) {
          await q.start(publish, { video: `episode-${workflows + 1}` })
          workflows++
        }
      }
      await sleep(roundMs, undefined, { signal }).catch(() => undefined)
    }
    await q.pauseSchedule('refresh report', 'demo')
    return { runIds, workflows }
  } finally {
    await q.close()
  }

  function enqueueSome(round: number) {
    const first = round * runsPerRound
    return Promise.all(
      Array.from({ length: runsPerRound }, (_, index) => {
        const number = first + index
        const group = tenants[number % tenants.length] ?? 'acme'
        if (number % 6 === 1)
          return q.enqueue('transcodeVideo', { video: `clip-${number}`, format: 'mp4', ms: 4_000 }, { group })
        if (number % 6 === 3) return q.enqueue('embedDocuments', { index: group, documents: 20, ms: 2_000 }, { group })
        if (number % 6 === 5)
          return q.enqueue('compileAssets', { bundle: number % 60 === 5 ? 'legacy' : 'app', ms: 600 }, { group })
        return q.enqueue('renderInvoice', { invoice: number, ms: 150 }, { group })
      }),
    )
  }
}
