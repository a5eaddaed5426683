/**
 * What the database says this replica holds, against what it executes; with every beat.
 *
 * Held and unknown here (an answer got lost, an end could not be written): given back if the code never began, else the
 * crash path. Executed and not held: a beat asks once more under the lease, and what is lost is stopped.
 */
import type { BeatSender, Store } from '@q/store'
import type { Observe } from './events.ts'
import type { Holdings } from './holdings.ts'
import type { PulseBoard } from './pulse-board.ts'

export interface ReconcileDeps {
  readonly control: Store
  readonly holdings: Holdings
  readonly pulseBoard: PulseBoard
  readonly sender: BeatSender
  readonly observe: Observe
  readonly onReleased: () => void
}

export async function reconcile(deps: ReconcileDeps): Promise<void> {
  const executing = deps.pulseBoard.all()
  const held = await deps.control.heldTaskRuns(deps.sender.replicaId)
  await recoverOrphans(deps, deps.holdings.orphans(held))
  const fences = new Map(held.map((run) => [run.runId, run.fence]))
  const doubtful = executing.filter(({ lease }) => fences.get(lease.runId) !== lease.fence)
  const answers = await deps.control.beatTaskRuns(
    deps.sender,
    doubtful.map(({ lease, slot }) => ({ lease, thread: slot, ageMs: 0, progress: null, note: null })),
  )
  for (const [index, pulse] of doubtful.entries()) if (answers[index] === 'lost') pulse.stop('lease lost')
}

async function recoverOrphans(
  { control, sender, observe, onReleased }: ReconcileDeps,
  { neverBegan, began }: ReturnType<Holdings['orphans']>,
): Promise<void> {
  if (neverBegan.length > 0) {
    const runIds = await control.releaseTaskRuns(neverBegan, undefined, { skipBusy: true })
    if (runIds.length > 0) observe({ type: 'runs-released', runIds })
    onReleased()
  }
  if (began.length > 0) {
    const { replicaId, hostname } = sender
    const { ids } = await control.recoverOwnTaskRuns({ replicaId, hostname, leases: began })
    if (ids.length > 0) observe({ type: 'runs-recovered', runIds: ids, cause: 'reconciled' })
  }
}
