/** What replicas do for all of them, one at a time: the list. */
import type { RunId, Store, WorkflowId } from '@q/store'
import type { RunnerConfig } from '../config.ts'
import type { Observe } from './events.ts'
import type { Chore } from './loops/chore.ts'

const hour = 3_600_000
const pruneEveryMs = 60_000
const repairEveryMs = 30_000
const batchMax = 1_000
/** Looked at by one statement: a workflow may have many steps. */
const workflowsMax = 100
/** Batches per round. What is left waits for the next one. */
const batchesMax = 50

export function chores(store: Store, config: RunnerConfig, observe: Observe): Chore[] {
  const { heartbeatsKeptMs } = config.preset
  return [
    {
      name: 'cleanup',
      everyMs: hour,
      atBoot: true,
      jobs: {
        'stale heartbeats': () => store.deleteStaleReplicaHeartbeats(heartbeatsKeptMs),
        replicas: () => pruneReplicas(store, config),
      },
    },
    { name: 'sample', everyMs: config.sampleEveryMs, jobs: { samples: () => store.sampleReplicas() } },
    {
      name: 'prune',
      everyMs: pruneEveryMs,
      jobs: {
        runs: createRunPruner(store, config.runsKeptMs),
        workflows: () => pruneWorkflows(store, config.runsKeptMs),
      },
    },
    { name: 'repair', everyMs: repairEveryMs, jobs: { workflows: () => repairWorkflows(store, observe) } },
  ]
}

async function pruneReplicas(store: Store, { replicasKeptMs, samplesKeptMs }: RunnerConfig): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const pruned = await store.pruneReplicas({ keepMs: replicasKeptMs, samplesKeptMs, limit: batchMax })
    if (Math.max(pruned.ids.length, pruned.samples, pruned.failures) < batchMax) return
  }
}

/** Walks the table a piece at a time, and begins again at its end. */
function createRunPruner(store: Store, keepMs: number): () => Promise<void> {
  let after: RunId | undefined
  return async () => {
    for (let batch = 0; batch < batchesMax; batch++) {
      const request = { keepMs, limit: batchMax }
      after = (await store.pruneTaskRuns(after === undefined ? request : { ...request, after })).next
      if (after === undefined) return
    }
  }
}

async function pruneWorkflows(store: Store, keepMs: number): Promise<void> {
  let after: WorkflowId | undefined
  do {
    after = (await store.pruneWorkflows({ keepMs, limit: workflowsMax, ...(after !== undefined && { after }) })).next
  } while (after !== undefined)
}

/** What is found was done by hand, or came out of a backup: it is told. */
async function repairWorkflows(store: Store, observe: Observe): Promise<void> {
  let after: WorkflowId | undefined
  do {
    const { healed, next } = await store.repairWorkflows({ limit: workflowsMax, ...(after !== undefined && { after }) })
    if (healed.length > 0) observe({ type: 'workflows-repaired', findings: healed })
    after = next
  } while (after !== undefined)
}
