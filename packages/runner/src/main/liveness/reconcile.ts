/**
 * Compares the runs that the database says this replica holds with the runs it executes, after every heartbeat.
 *
 * A run that is held but unknown here (a response was lost, an outcome could not be written) is released if its code never
 * began, else recovered as after a crash. A run that is executed but not held gets one more heartbeat under its lease, and is
 * stopped if the lease is lost.
 */
import type { BeatSender, Store } from '@q/store'
import type { Observe } from '../events.ts'
import type { CountRecovered } from '../stats/count-recovered.ts'
import type { HeldRuns } from './held-runs.ts'
import type { RunMonitors } from './run-monitors.ts'

export interface ReconcileDeps {
  readonly control: Store
  readonly heldRuns: HeldRuns
  readonly runMonitors: RunMonitors
  readonly sender: BeatSender
  readonly observe: Observe
  readonly onReleased: () => void
  readonly countRecovered: CountRecovered
}

export async function reconcile(deps: ReconcileDeps): Promise<void> {
  const executing = deps.runMonitors.all()
  const held = await deps.control.heldTaskRuns(deps.sender.replicaId)
  await recoverOrphans(deps, deps.heldRuns.orphans(held))
  const fences = new Map(held.map((run) => [run.runId, run.fence]))
  const doubtful = executing.filter(({ lease }) => fences.get(lease.runId) !== lease.fence)
  const answers = await deps.control.beatTaskRuns(
    deps.sender,
    doubtful.map(({ lease, slot }) => ({ lease, thread: slot, ageMs: 0, progress: null, note: null })),
  )
  for (const [index, monitor] of doubtful.entries()) if (answers[index] === 'lost') monitor.stop('lease lost')
}

async function recoverOrphans(
  { control, sender, observe, onReleased, countRecovered }: ReconcileDeps,
  { neverBegan, began }: ReturnType<HeldRuns['orphans']>,
): Promise<void> {
  if (neverBegan.length > 0) {
    const runIds = await control.releaseTaskRuns(neverBegan, undefined, { skipBusy: true })
    if (runIds.length > 0) observe({ type: 'runs-released', runIds })
    onReleased()
  }
  if (began.length > 0) {
    const { replicaId, hostname } = sender
    const { ids } = await control.recoverOwnTaskRuns({ replicaId, hostname, leases: began })
    if (ids.length === 0) return
    const holder = { holder: replicaId, holderName: null, hostname }
    observe({ type: 'runs-recovered', ...holder, cause: 'reconciled', silentMs: null, runIds: ids })
    await countRecovered(ids)
  }
}
