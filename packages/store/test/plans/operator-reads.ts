/**
 * Every read for operators, and how many rows it may look at in the tables that grow with history, whatever their size.
 * The limits follow from the bounds in the reads: a count stops at 10 001 rows, a walk at 50 000.
 */
import type { RunId, RunViewName, Store } from '@q/store'

export interface OperatorRead {
  /** As in “the cost of …”. */
  readonly of: string
  readonly read: (store: Store, runId: RunId) => Promise<unknown>
  readonly rowsMax: number
}

const counting = 10_001
const walking = 50_001

const hour = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date() })
const views: readonly RunViewName[] = ['newest', 'running', 'failed', 'waiting', 'review', 'stopping']

export const operatorReads: readonly OperatorRead[] = [
  { of: 'listing queues', read: (store) => store.listQueues(), rowsMax: 5 * counting },
  { of: 'a queue in detail', read: (store) => store.getQueue('default'), rowsMax: 20 * counting },
  { of: 'contended keys', read: (store) => store.contendedKeys(), rowsMax: 15 * counting },
  { of: 'unserved lanes', read: (store) => store.unservedLanes(), rowsMax: 4 * counting },
  { of: 'the overview', read: (store) => store.overview(), rowsMax: 3 * counting },
  { of: 'figures for metrics', read: (store) => store.clusterGauges(), rowsMax: 5 * counting },
  { of: 'attention', read: (store) => store.attention(), rowsMax: 5 * counting },
  { of: 'listing nodes', read: (store) => store.listNodes({ stopped: true }), rowsMax: 1_000 },
  { of: 'a node in detail', read: (store) => store.nodeDetail('replica-live'), rowsMax: 5_000 },
  { of: 'the samples of a node', read: (store) => store.nodeSamples('replica-live', { sinceMs: 1e9 }), rowsMax: 2_100 },
  { of: 'heartbeat lanes', read: (store) => store.heartbeatLanes(hour()), rowsMax: 20_000 },
  ...views.map((view) => ({
    of: `the view ${view}`,
    read: (store: Store) => store.listTaskRuns({}, { view }),
    // No run of the history is FAILED, so the view of failed ones looks at as many attempts as it may.
    rowsMax: { newest: 200, running: 3_000, failed: 3 * walking, waiting: 4 * counting, review: 10, stopping: 3_000 }[
      view
    ],
  })),
  { of: 'a list that finds nothing', read: (store) => store.listTaskRuns({ payload: 'a=1' }), rowsMax: walking },
  { of: 'a list of running runs', read: (store) => store.listTaskRuns({ status: ['running'] }), rowsMax: 3_000 },
  {
    of: 'a list of ready runs',
    read: (store) => store.listTaskRuns({ status: ['queued'], task: 'x' }),
    rowsMax: walking + counting,
  },
  { of: 'the runs of an error', read: (store) => store.listTaskRuns({ fingerprint: 'error 1' }), rowsMax: 3_000 },
  { of: 'the runs of a schedule', read: (store) => store.listTaskRuns({ schedule: 'nightly' }), rowsMax: walking },
  { of: 'counting matches', read: (store) => store.countTaskRuns({ task: 'no such task' }), rowsMax: walking },
  { of: 'a run in detail', read: (store, runId) => store.getTaskRun(runId), rowsMax: 5_000 },
  { of: 'ticks of runs', read: (store, runId) => store.runTicks([runId]), rowsMax: 5 },
  { of: 'why a run waits', read: (store, runId) => store.whyNotRunning(runId), rowsMax: 5_000 },
  { of: 'recoveries', read: (store) => store.listRecoveries({ node: 'replica-1' }), rowsMax: 200 },
  { of: 'recoveries to review', read: (store) => store.listRecoveries({ toReview: true }), rowsMax: 10 },
  // Groups are pruned and few; this read touches no table that grows.
  { of: 'groups of errors', read: (store) => store.listErrorGroups(), rowsMax: 0 },
  { of: 'workflows', read: (store) => store.listWorkflows({ name: 'done' }), rowsMax: 300 },
  { of: 'running workflows', read: (store) => store.listWorkflows({ status: 'RUNNING' }), rowsMax: 10 },
  { of: 'ticks of a schedule', read: (store) => store.scheduleTicks('nightly'), rowsMax: 100 },
  { of: 'deliveries', read: (store) => store.listDeliveries(), rowsMax: 100 },
  { of: 'deliveries that were given up', read: (store) => store.listDeliveries({ givenUp: true }), rowsMax: 10 },
  { of: 'rates of an hour', read: (store) => store.series({ metric: 'rate', ...hour() }), rowsMax: 1_000 },
  {
    of: 'waits of an hour',
    read: (store) => store.series({ metric: 'wait', ...hour(), queue: 'default' }),
    rowsMax: 1_000,
  },
  { of: 'lengths of an hour', read: (store) => store.series({ metric: 'ready', ...hour() }), rowsMax: 1_000 },
]
