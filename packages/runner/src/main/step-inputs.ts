/**
 * What steps of workflows are started with: results of other steps, filled in. Steps that begin together are asked for
 * together; one whose inputs cannot be put together fails alone.
 */
import { isExplained, type Explained } from '@q/schema'
import { createBatcher, type ClaimedRun, type Store } from '@q/store'

/** JSON text, or why there is none and never will be. */
export type StepInputs = (run: ClaimedRun) => Promise<string | Explained>

const batchMax = 200

export function createStepInputs(store: Pick<Store, 'stepPayloads'>): StepInputs {
  async function read(runs: readonly ClaimedRun[]): Promise<readonly (string | Explained)[]> {
    try {
      const payloads = await store.stepPayloads(runs.map((run) => run.runId))
      return runs.map((run) => payloads.get(run.runId) ?? run.payload)
    } catch (error) {
      if (!isExplained(error)) throw error
      if (runs.length === 1) return [error]
      const answers: (string | Explained)[] = []
      for (const run of runs) answers.push(...(await read([run])))
      return answers
    }
  }
  const batches = createBatcher(read, batchMax)
  return (run) => batches.add(run)
}
