/** What steps of workflows are started with: results of other steps, filled in. Steps that begin together are asked for together. */
import { createBatcher, type ClaimedRun, type Store } from '@q/store'

/** JSON text. */
export type StepInputs = (run: ClaimedRun) => Promise<string>

const batchMax = 200

export function createStepInputs(store: Store): StepInputs {
  const batches = createBatcher<ClaimedRun, string>(async (runs) => {
    const payloads = await store.stepPayloads(runs.map((run) => run.runId))
    return runs.map((run) => payloads.get(run.runId) ?? run.payload)
  }, batchMax)
  return (run) => batches.add(run)
}
