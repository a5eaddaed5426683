/**
 * Prepares claimed runs for a worker. In the payload of a workflow step, references are replaced by results of other
 * steps; a step whose payload cannot be built fails here, as it does in a runner.
 */
import { isExplained, type Explained } from '@q/schema'
import type { ClaimedRun, Store } from '@q/store'
import type { WorkRun } from '../../api/work.ts'
import type { WorkerHost } from './workers.ts'

export async function executable(store: Store, claimed: readonly ClaimedRun[], host: WorkerHost): Promise<WorkRun[]> {
  const runs: WorkRun[] = []
  for (const run of claimed) {
    const payload = run.step ? await stepPayload(store, run) : run.payload
    if (typeof payload === 'string') runs.push(workRun(run, payload))
    else await failStep(store, run, payload, host)
  }
  return runs
}

async function stepPayload(store: Store, { runId, payload }: ClaimedRun): Promise<string | Explained> {
  try {
    return (await store.stepPayloads([runId])).get(runId) ?? payload
  } catch (error) {
    if (isExplained(error)) return error
    throw error
  }
}

async function failStep(
  store: Store,
  { runId, fence }: ClaimedRun,
  problem: Explained,
  host: WorkerHost,
): Promise<void> {
  const lease = { runId, fence }
  // The run may still be CLAIMED, and an outcome needs a started run.
  await store.startTaskRuns([lease])
  const detail = `${problem.message} ${problem.why}`
  const outcome = { status: 'FAILED', code: 'INVALID_PAYLOAD', detail } as const
  await store.settleTaskRuns([{ lease, outcome, by: { ...host, thread: 0 } }])
}

function workRun(run: ClaimedRun, payloadText: string): WorkRun {
  const { runId, fence, task, queue, attempt, onCrash, timeoutMs, checkpoint } = run
  return { runId, fence, task, queue, payloadText, attempt, onCrash, timeoutMs, checkpointText: checkpoint }
}
