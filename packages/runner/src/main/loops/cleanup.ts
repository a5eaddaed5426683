/** Removes what nobody needs any more, at boot and then every hour. */
import type { Store } from '@q/store'
import { after, type Next } from '../loop.ts'

const everyMs = 3_600_000

export async function cleanupTick(deps: { readonly store: Store; readonly heartbeatsKeptMs: number }): Promise<Next> {
  await deps.store.deleteStaleReplicaHeartbeats(deps.heartbeatsKeptMs)
  return after(everyMs)
}
