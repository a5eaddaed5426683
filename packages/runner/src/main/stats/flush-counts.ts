/**
 * Adds the counts of this replica to the tally in the database every 10 s; in a large fleet less often, so that all
 * replicas together flush about three times a second. Sends nothing if there is nothing to add.
 *
 * A flush whose response is lost is repeated unchanged, with its number, until the database answers; the database adds it
 * once. Counts from the meantime go with the next flush.
 */
import type { Flush, Store } from '@q/store'
import { after, type Next } from '../loop.ts'
import type { RunCounts } from './run-counts.ts'

export interface FlushDeps {
  readonly store: Pick<Store, 'flushTally'>
  readonly replicaId: string
  readonly counts: RunCounts
}

const everyMsMin = 10_000
const flushesPerSecondMax = 3

export interface CountFlusher {
  tick(): Promise<Next>
  /** Sends what is left. */
  flush(): Promise<void>
}

export function createCountFlusher({ store, replicaId, counts }: FlushDeps): CountFlusher {
  let unanswered: Flush | undefined
  let flushNo = 0
  let replicas = 1

  async function send(): Promise<void> {
    const counted = unanswered === undefined ? counts.take() : undefined
    if (counted !== undefined) unanswered = { replicaId, flushNo: ++flushNo, ...counted }
    if (unanswered === undefined) return
    const answer = await store.flushTally(unanswered)
    unanswered = undefined
    replicas = answer.replicas
  }

  return {
    async tick() {
      await send()
      return after(flushInMs(replicas))
    },
    async flush() {
      // The flush under way first, then what was counted since.
      if (unanswered !== undefined) await send()
      await send()
    },
  }
}

/** With jitter, so that replicas that started together do not flush together. */
function flushInMs(replicas: number): number {
  return Math.max(everyMsMin, (replicas / flushesPerSecondMax) * 1_000) * (0.9 + 0.2 * Math.random())
}
