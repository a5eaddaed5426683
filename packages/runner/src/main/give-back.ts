/**
 * Gives back runs whose code never began. One that somebody has locked stays ours, and may still begin; one that was
 * lost meanwhile is nothing to us any more, and must not.
 */
import { leaseKey, leaseOf, type Lease, type RunId, type Store } from '@q/store'
import type { Observe } from './events.ts'
import type { Holdings } from './holdings.ts'

export interface GiveBackDeps {
  readonly store: Store
  readonly replicaId: string
  readonly holdings: Pick<Holdings, 'ended'>
  readonly observe: Observe
}

/** Those that are not ours any more. */
export async function giveBackUnbegun(deps: GiveBackDeps, runs: readonly Lease[]): Promise<readonly RunId[]> {
  const { store, replicaId, holdings, observe } = deps
  if (runs.length === 0) return []
  const runIds = await store.releaseTaskRuns(runs.map(leaseOf), undefined, { skipBusy: true })
  if (runIds.length > 0) observe({ type: 'runs-released', runIds })
  const given = new Set(runIds)
  const others = runs.filter(({ runId }) => !given.has(runId))
  // If nobody can say, they stay, and are given back again.
  const held = others.length === 0 ? [] : await store.heldTaskRuns(replicaId).catch(() => others)
  const ours = new Set(held.map(leaseKey))
  const gone = runs.filter((run) => given.has(run.runId) || !ours.has(leaseKey(run)))
  for (const run of gone) holdings.ended(run)
  return gone.map(({ runId }) => runId)
}
