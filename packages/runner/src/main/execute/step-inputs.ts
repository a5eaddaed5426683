/**
 * Reads the payloads of workflow steps, with the results of other steps filled in. Steps that begin together are read in
 * one batch; a step whose payload cannot be built fails alone.
 */
import { isExplained, type Explained } from '@q/schema'
import { createBatcher, type ClaimedRun, type Store } from '@q/store'

/** Returns the payload as JSON text, or the permanent error for which there is none. */
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
