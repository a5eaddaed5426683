/**
 * Samples the length of the queues. A look that took long is repeated after 50 times as long: sampling never uses more than 2 %
 * of one core of the server, however many lanes there are.
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
