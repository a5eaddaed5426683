/** The verbs, bound to a database: the table of contents of this package. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { beatRunningTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from './heartbeats/beat-runs.ts'
import { upsertReplicaHeartbeat, type ReplicaVitals } from './heartbeats/beat-replica.ts'
import { internLane, type LaneName } from './lanes.ts'
import type { Lease, RunId } from './lease.ts'
import { countRunsByState, listNodes, type Node } from './reads/overview.ts'
import { awaitTaskRuns, getTaskRuns, type RunView } from './reads/runs.ts'
import { registerReplica, type ReplicaIntroduction } from './replicas/register.ts'
import { retireReplica } from './replicas/retire.ts'
import { claimAvailableTaskRuns, type ClaimedRun, type ClaimRequest } from './runs/claim.ts'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from './runs/enqueue.ts'
import { nextDueInMs, promoteDueTaskRuns } from './runs/promote.ts'
import { releaseTaskRuns } from './runs/release.ts'
import { settleTaskRuns, type Settlement } from './runs/settle.ts'
import { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from './tasks/publish.ts'
import { wakeQueue } from './wakes.ts'
import type { TaskState } from '@q/schema'

export interface Store {
  internLane(lane: LaneName): Promise<number>
  enqueueTaskRuns(runs: readonly NewRun[]): Promise<EnqueuedRun[]>
  promoteDueTaskRuns(limit: number): Promise<RunId[]>
  nextDueInMs(): Promise<number | undefined>
  claimAvailableTaskRuns(request: ClaimRequest): Promise<ClaimedRun[]>
  settleTaskRuns(settlements: readonly Settlement[]): Promise<('settled' | 'lease-lost')[]>
  releaseTaskRuns(leases: readonly Lease[]): Promise<RunId[]>
  beatRunningTaskRuns(sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]>
  registerReplica(replica: ReplicaIntroduction): Promise<{ name: string }>
  upsertReplicaHeartbeat(replicaId: string, vitals: ReplicaVitals): Promise<{ draining: boolean }>
  retireReplica(replicaId: string): Promise<void>
  publishTasks(replicaId: string, tasks: readonly TaskNotice[]): Promise<void>
  publishedTasks(): Promise<PublishedTask[]>
  wakeQueue(queue: string): Promise<void>
  awaitTaskRuns(ids: readonly RunId[]): Promise<void>
  getTaskRuns(ids: readonly RunId[]): Promise<RunView[]>
  countRunsByState(): Promise<{ status: TaskState; runs: number }[]>
  listNodes(): Promise<Node[]>
}

export function createStore(db: Kysely<DB>): Store {
  return {
    internLane: (lane) => internLane(db, lane),
    enqueueTaskRuns: (runs) => enqueueTaskRuns(db, runs),
    promoteDueTaskRuns: (limit) => promoteDueTaskRuns(db, limit),
    nextDueInMs: () => nextDueInMs(db),
    claimAvailableTaskRuns: (request) => claimAvailableTaskRuns(db, request),
    settleTaskRuns: (settlements) => settleTaskRuns(db, settlements),
    releaseTaskRuns: (leases) => releaseTaskRuns(db, leases),
    beatRunningTaskRuns: (sender, beats) => beatRunningTaskRuns(db, sender, beats),
    registerReplica: (replica) => registerReplica(db, replica),
    upsertReplicaHeartbeat: (replicaId, vitals) => upsertReplicaHeartbeat(db, replicaId, vitals),
    retireReplica: (replicaId) => retireReplica(db, replicaId),
    publishTasks: (replicaId, tasks) => publishTasks(db, replicaId, tasks),
    publishedTasks: () => publishedTasks(db),
    wakeQueue: (queue) => wakeQueue(db, queue),
    awaitTaskRuns: (ids) => awaitTaskRuns(db, ids),
    getTaskRuns: (ids) => getTaskRuns(db, ids),
    countRunsByState: () => countRunsByState(db),
    listNodes: () => listNodes(db),
  }
}
