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
        workflows: createWorkflowPruner(store, config.runsKeptMs),
      },
    },
    { name: 'repair', everyMs: repairEveryMs, jobs: { workflows: createWorkflowRepairer(store, observe) } },
  ]
}

async function pruneReplicas(store: Store, { replicasKeptMs, samplesKeptMs }: RunnerConfig): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const pruned = await store.pruneReplicas({ keepMs: replicasKeptMs, samplesKeptMs, limit: batchMax })
    if (Math.max(pruned.ids.length, pruned.samples, pruned.failures) < batchMax) return
  }
}

/** Walks a table a piece at a time, so many pieces a round, and begins again at its end. */
function createWalk<Place>(
  look: (from: { readonly after?: Place }) => Promise<Place | undefined>,
): () => Promise<void> {
  let after: Place | undefined
  return async () => {
    for (let batch = 0; batch < batchesMax; batch++) {
      after = await look(after === undefined ? {} : { after })
      if (after === undefined) return
    }
  }
}

function createRunPruner(store: Store, keepMs: number): () => Promise<void> {
  return createWalk<RunId>(async (from) => (await store.pruneTaskRuns({ keepMs, limit: batchMax, ...from })).next)
}

function createWorkflowPruner(store: Store, keepMs: number): () => Promise<void> {
  return createWalk<WorkflowId>(
    async (from) => (await store.pruneWorkflows({ keepMs, limit: workflowsMax, ...from })).next,
  )
}

/** What is found was done by hand, or came out of a backup: it is told. */
function createWorkflowRepairer(store: Store, observe: Observe): () => Promise<void> {
  return createWalk<WorkflowId>(async (from) => {
    const { healed, next } = await store.repairWorkflows({ limit: workflowsMax, ...from })
    if (healed.length > 0) observe({ type: 'workflows-repaired', findings: healed })
    return next
  })
}
