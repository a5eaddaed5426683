/**
 * Samples the length of the queues. The pause after a sample is at least 50 times as long as the sample took, so sampling
 * uses at most 2 % of one core of the server, for any number of lanes.
 */
import type { Store } from '@q/store'

const restFactor = 50

export function createQueueSampler(store: Pick<Store, 'sampleQueues'>, nowMs: () => number): () => Promise<void> {
  let restsUntilMs = 0
  return async () => {
    const begunMs = nowMs()
    if (begunMs < restsUntilMs) return
    try {
      await store.sampleQueues()
    } finally {
      restsUntilMs = nowMs() + restFactor * (nowMs() - begunMs)
    }
  }
}
