/**
 * Releases runs whose code has not begun. A run that another transaction has locked stays held and may still begin. A run
 * whose lease was lost in the meantime is no longer held and must not begin.
 */
import { leaseKey, leaseOf, type ClaimedRun, type Lease, type RunId, type Store } from '@q/store'
import type { ExchangeBuffer } from '../claim/exchange-buffer.ts'
import type { PrefetchBuffer } from '../claim/prefetch-buffer.ts'
import type { Dispatch } from '../dispatch/dispatch.ts'
import type { Observe } from '../events.ts'
import type { HeldRuns } from '../liveness/held-runs.ts'

export interface ReleaseDeps {
  readonly store: Store
  readonly replicaId: string
  readonly heldRuns: Pick<HeldRuns, 'ended'>
  readonly observe: Observe
}

/** Returns the runs that this replica no longer holds. */
export async function releaseUnstarted(deps: ReleaseDeps, runs: readonly Lease[]): Promise<readonly RunId[]> {
  const { store, replicaId, heldRuns, observe } = deps
  if (runs.length === 0) return []
  const runIds = await store.releaseTaskRuns(runs.map(leaseOf), undefined, { skipBusy: true })
  if (runIds.length > 0) observe({ type: 'runs-released', runIds })
  const released = new Set(runIds)
  const others = runs.filter(({ runId }) => !released.has(runId))
  // If the database does not answer, they stay held and are released later.
  const held = others.length === 0 ? [] : await store.heldTaskRuns(replicaId).catch(() => others)
  const ours = new Set(held.map(leaseKey))
  const gone = runs.filter((run) => released.has(run.runId) || !ours.has(leaseKey(run)))
  for (const run of gone) heldRuns.ended(run)
  return gone.map(({ runId }) => runId)
}

export type ReleaseUnstarted = (runs: readonly Lease[]) => Promise<readonly RunId[]>

export interface ReleaseWaitingDeps {
  readonly prefetched: PrefetchBuffer
  readonly dispatch: Pick<Dispatch, 'withdrawAll'>
  readonly exchangeBuffer: Pick<ExchangeBuffer, 'awaitingSlot'>
  readonly releaseUnstarted: ReleaseUnstarted
}

/** Releases all runs that wait here: prefetched ones, and those that a thread was handed and has not begun. */
export async function releaseWaiting(deps: ReleaseWaitingDeps): Promise<void> {
  const { prefetched, exchangeBuffer } = deps
  const claimed = prefetched.takeAll()
  const withdrawn = deps.dispatch.withdrawAll()
  if (claimed.length + withdrawn.length === 0) return
  const keep = (gone: ReadonlySet<RunId>) => {
    const isKept = ({ runId }: ClaimedRun) => !gone.has(runId)
    prefetched.putBack(claimed.filter(isKept))
    // They are already started in the database, so they wait for a slot.
    exchangeBuffer.awaitingSlot.push(...withdrawn.filter(isKept))
  }
  const gone = await deps.releaseUnstarted([...claimed, ...withdrawn]).catch((error: unknown) => {
    keep(new Set())
    throw error
  })
  keep(new Set(gone))
}

export interface ReleaseHeldDeps {
  readonly control: Pick<Store, 'heldTaskRuns'>
  readonly replicaId: string
  readonly heldRuns: Pick<HeldRuns, 'unbegun'>
  readonly releaseUnstarted: ReleaseUnstarted
}

/**
 * Releases the runs that the database lists for this replica and that have not begun here, because a response may have
 * been lost. Returns how many of them it still holds.
 */
export async function releaseHeld(deps: ReleaseHeldDeps): Promise<number> {
  const unbegun = deps.heldRuns.unbegun(await deps.control.heldTaskRuns(deps.replicaId))
  return unbegun.length - (await deps.releaseUnstarted(unbegun)).length
}
