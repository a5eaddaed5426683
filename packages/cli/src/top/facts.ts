/**
 * Reads the data of `q top`, by the same bounded reads as `q status`. Slowly changing data is read less often, and a
 * slow read delays the next one, so that watching never costs the server more than a few percent of a core.
 */
import type { Node, QueueView, RunSummary, Overview, AttentionReport, Store } from '@q/store'

export interface TopFacts {
  readonly at: Date
  readonly place: string
  readonly overview: Overview
  readonly queues: readonly QueueView[]
  readonly nodes: readonly Node[]
  /** Longest running first. */
  readonly runs: readonly RunSummary[]
  readonly attention: AttentionReport
  /** Ready runs of each queue over the last 15 minutes. */
  readonly history: ReadonlyMap<string, readonly (number | null)[]>
}

const attentionEveryMs = 5_000
const historyEveryMs = 15_000
const historyMs = 15 * 60_000
const historyPoints = 30
const runsMax = 100
/** A share of the time between two updates that looking may take. */
const restFactor = 10

export interface Looker {
  look(): Promise<TopFacts>
  /** The pause before the next read, after the last one took `tookMs`. */
  restMs(everyMs: number): number
}

export function createLooker(store: Store, place: string): Looker {
  let tookMs = 0
  const attention = atMostEvery(attentionEveryMs, () => store.attention())
  const history = atMostEvery(historyEveryMs, (queues: readonly QueueView[]) => historyOf(store, queues))
  return {
    async look() {
      const begun = performance.now()
      const overview = await store.overview()
      const queues = await store.listQueues()
      const nodes = await store.listNodes()
      const { runs } = await store.listTaskRuns({}, { view: 'running', limit: runsMax })
      const facts = {
        at: new Date(),
        place,
        overview,
        queues,
        nodes,
        runs,
        attention: await attention([]),
        history: await history(queues),
      }
      tookMs = performance.now() - begun
      return facts
    },
    restMs: (everyMs) => Math.max(everyMs, tookMs * restFactor),
  }
}

function atMostEvery<A, T>(everyMs: number, read: (argument: A) => Promise<T>): (argument: A) => Promise<T> {
  let last: { readonly at: number; readonly answer: T } | undefined
  return async (argument) => {
    if (last === undefined || performance.now() - last.at > everyMs)
      last = { at: performance.now(), answer: await read(argument) }
    return last.answer
  }
}

async function historyOf(
  store: Store,
  queues: readonly QueueView[],
): Promise<ReadonlyMap<string, readonly (number | null)[]>> {
  const to = new Date()
  const from = new Date(to.getTime() - historyMs)
  const all = new Map<string, readonly (number | null)[]>()
  for (const { queue } of queues.slice(0, 10)) {
    const points = await store.series({ metric: 'ready', queue, from, to, points: historyPoints })
    all.set(
      queue,
      points.map(({ value }) => value ?? null),
    )
  }
  return all
}
