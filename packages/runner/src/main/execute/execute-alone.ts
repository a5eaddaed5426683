/** Executes a run that has a slot for itself, and signals the other loops when the run begins and ends. */
import type { ClaimedRun } from '@q/store'
import type { HeldRuns } from '../liveness/held-runs.ts'
import type { Signals } from '../signals.ts'
import { executeRun, type ExecuteDeps } from './execute.ts'

export interface ExecuteAloneDeps {
  readonly execution: ExecuteDeps
  readonly heldRuns: Pick<HeldRuns, 'begun' | 'ended'>
  readonly processStats: { runBegan(): void; runEnded(): void }
  readonly signals: Pick<Signals, 'runBegan' | 'runsReady' | 'wakeClaim'>
}

export async function executeAlone(deps: ExecuteAloneDeps, run: ClaimedRun, slot: number): Promise<void> {
  const { execution, heldRuns, processStats, signals } = deps
  heldRuns.begun(run)
  processStats.runBegan()
  const executed = executeRun(execution, run, slot)
  signals.runBegan(run)
  await executed.catch((error: unknown) => execution.observe({ type: 'run-unfinished', error }))
  heldRuns.ended(run)
  processStats.runEnded()
  // Its end may have made other steps, or the next run of its key, ready.
  if (run.gated) signals.runsReady()
  else signals.wakeClaim()
}
