/**
 * Refreshes the heartbeats and samples that a destination receives. It checks several times per interval which replicas
 * are due.
 */
import type { Destination, Store } from '@q/store'

export interface HeartbeatRefreshDeps {
  readonly store: Pick<Store, 'reportHeartbeats'>
  readonly nowMs: () => number
}

const lookEveryMsMax = 15_000
const looksPerInterval = 4
const replicasMax = 200

export function createHeartbeatRefresh(
  { store, nowMs }: HeartbeatRefreshDeps,
  { name, reports, everyMs }: Destination,
): () => Promise<void> {
  const kinds = (['heartbeat', 'sample'] as const).filter((kind) => reports.includes(kind))
  let lookedMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (kinds.length === 0 || nowMs() - lookedMs < Math.min(everyMs / looksPerInterval, lookEveryMsMax)) return
    const reported: number[] = []
    for (const kind of kinds)
      reported.push(await store.reportHeartbeats({ destination: name, kind, everyMs, limit: replicasMax }))
    // More are due: the next round goes on.
    if (Math.max(...reported) < replicasMax) lookedMs = nowMs()
  }
}
