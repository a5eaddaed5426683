/** The list of maintenance jobs. One replica at a time does each of them for all. */
import type { RunId, Store, WorkflowId } from '@q/store'
import type { RunnerConfig } from '../../settings/config.ts'
import type { Observe } from '../events.ts'
import { nowMs } from '../loop.ts'
import type { MaintenanceJob } from './job-loop.ts'
import { createQueueSampler } from './queue-sampler.ts'

const hour = 3_600_000
const pruneEveryMs = 60_000
const repairEveryMs = 30_000
const sampleQueuesEveryMs = 15_000
const unroutableEveryMs = 30_000
const batchMax = 1_000
/** Workflows per statement: a workflow may have many steps. */
const workflowsMax = 100
/** Batches per round. */
const batchesMax = 50

export function maintenanceJobs(store: Store, config: RunnerConfig, observe: Observe): MaintenanceJob[] {
  const { heartbeatsKeptMs, unroutableMs } = config.preset
  return [
    {
      name: 'cleanup',
      everyMs: hour,
      atBoot: true,
      steps: {
        'stale heartbeats': () => removeStaleHeartbeats(store, heartbeatsKeptMs, observe),
        replicas: () => pruneReplicas(store, config),
        tally: () => foldTally(store),
        operate: () => pruneOperate(store, config),
        deliveries: () => pruneDeliveries(store, config),
      },
    },
    { name: 'sample', everyMs: config.sampleEveryMs, steps: { samples: () => store.sampleReplicas() } },
    {
      name: 'sample queues',
      everyMs: sampleQueuesEveryMs,
      dutyMs: 4 * sampleQueuesEveryMs,
      steps: { 'queue samples': createQueueSampler(store, nowMs) },
    },
    { name: 'prune', everyMs: pruneEveryMs, steps: { runs: createRunPruner(store, config.runsKeptMs) } },
    {
      name: 'prune workflows',
      everyMs: pruneEveryMs,
      steps: { workflows: createWorkflowPruner(store, config.runsKeptMs) },
    },
    { name: 'repair', everyMs: repairEveryMs, steps: { repair: createWorkflowRepairer(store, observe) } },
    ...(unroutableMs === null ? [] : [unroutableJob(store, unroutableMs, observe)]),
  ]
}

function unroutableJob(store: Store, graceMs: number, observe: Observe): MaintenanceJob {
  const everyMs = Math.min(unroutableEveryMs, Math.ceil(graceMs / 2))
  return {
    name: 'unroutable',
    everyMs,
    steps: {
      async unroutable() {
        const runIds = await store.failUnroutableTaskRuns({ graceMs, gapMsMax: 5 * everyMs, limit: batchMax })
        if (runIds.length > 0) observe({ type: 'runs-unroutable', runIds })
        return runIds.length === batchMax
      },
    },
  }
}

async function removeStaleHeartbeats(store: Store, keptMs: number, observe: Observe): Promise<void> {
  const { ids } = await store.deleteStaleReplicaHeartbeats(keptMs)
  if (ids.length > 0) observe({ type: 'stale-heartbeats-removed', replicas: ids })
}

/** Whether there is more. */
async function pruneReplicas(store: Store, { replicasKeptMs, samplesKeptMs }: RunnerConfig): Promise<boolean> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const pruned = await store.pruneReplicas({ keepMs: replicasKeptMs, samplesKeptMs, limit: batchMax })
    if (Math.max(pruned.ids.length, pruned.samples, pruned.failures) < batchMax) return false
  }
  return true
}

/** Whether there is more. */
async function pruneDeliveries(store: Store, { deliveriesKeptMs }: RunnerConfig): Promise<boolean> {
  const request = { keepMs: deliveriesKeptMs, limit: batchMax }
  for (let batch = 0; batch < batchesMax; batch++) if ((await store.pruneDeliveries(request)) < batchMax) return false
  return true
}

/** Whether there is more. */
async function foldTally(store: Store): Promise<boolean> {
  for (let batch = 0; batch < batchesMax; batch++) if ((await store.foldTally(batchMax)) < batchMax) return false
  return true
}

/** Whether there is more. */
async function pruneOperate(
  store: Store,
  { samplesKeptMs, tallyKeptMs, actionsKeptMs }: RunnerConfig,
): Promise<boolean> {
  const request = { samplesKeptMs, tallyKeptMs, actionsKeptMs, limit: batchMax }
  for (let batch = 0; batch < batchesMax; batch++) if ((await store.pruneOperate(request)) < batchMax) return false
  return true
}

/** Walks a table in batches, some in each round, and starts over at its end. A round returns whether the end is not reached yet. */
function createWalk<Id>(look: (from: { readonly after?: Id }) => Promise<Id | undefined>): () => Promise<boolean> {
  let after: Id | undefined
  return async () => {
    for (let batch = 0; batch < batchesMax; batch++) {
      after = await look(after === undefined ? {} : { after })
      if (after === undefined) return false
    }
    return true
  }
}

function createRunPruner(store: Store, keepMs: number): () => Promise<boolean> {
  return createWalk<RunId>(async (from) => (await store.pruneTaskRuns({ keepMs, limit: batchMax, ...from })).next)
}

function createWorkflowPruner(store: Store, keepMs: number): () => Promise<boolean> {
  return createWalk<WorkflowId>(
    async (from) => (await store.pruneWorkflows({ keepMs, limit: workflowsMax, ...from })).next,
  )
}

/** Repairs and reports workflows that manual SQL or a backup left inconsistent. These are rare, so one round per interval is enough. */
function createWorkflowRepairer(store: Store, observe: Observe): () => Promise<void> {
  const walk = createWalk<WorkflowId>(async (from) => {
    const { repaired, next } = await store.repairWorkflows({ limit: workflowsMax, ...from })
    if (repaired.length > 0) observe({ type: 'workflows-repaired', findings: repaired })
    return next
  })
  return async () => void (await walk())
}
