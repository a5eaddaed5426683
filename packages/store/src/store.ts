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
import { setConcurrencyLimit } from './gates/concurrency-limit.ts'
import { pauseQueue, resumeQueue } from './gates/pause.ts'
import { cancelTaskRuns, type CancelAnswer } from './runs/cancel.ts'
import { checkpointTaskRun } from './runs/checkpoint.ts'
import { claimAvailableTaskRuns, type ClaimedRun, type ClaimRequest } from './runs/claim.ts'
import { enqueueTaskRuns, type EnqueuedRun, type NewRun } from './runs/enqueue.ts'
import { expireTaskRuns } from './runs/expire.ts'
import { nextDueInMs, promoteDueTaskRuns, promoteKeys, sweepGatedKeys } from './runs/promote.ts'
import { releaseTaskRuns } from './runs/release.ts'
import { retryTaskRun, type RetryAnswer } from './runs/retry.ts'
import { finishTaskRun, settleTaskRuns, type Settled, type Settlement } from './runs/settle.ts'
import { snoozeTaskRun } from './runs/snooze.ts'
import { startTaskRuns } from './runs/start.ts'
import { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from './tasks/publish.ts'
import { wakeQueue } from './wakes.ts'
import type { TaskState } from '@q/schema'

export interface Store {
  internLane(lane: LaneName): Promise<number>
  enqueueTaskRuns(runs: readonly NewRun[]): Promise<EnqueuedRun[]>
  promoteDueTaskRuns(limit: number): Promise<{ ids: RunId[]; looked: number }>
  promoteKeys(keys: readonly string[]): Promise<RunId[]>
  sweepGatedKeys(limit: number): Promise<RunId[]>
  nextDueInMs(): Promise<number | undefined>
  claimAvailableTaskRuns(request: ClaimRequest): Promise<ClaimedRun[]>
  startTaskRuns(leases: readonly Lease[]): Promise<RunId[]>
  settleTaskRuns(settlements: readonly Settlement[]): Promise<Settled[]>
  finishTaskRun(lease: Lease, result: unknown): Promise<'settled' | 'lease-lost'>
  snoozeTaskRun(lease: Lease, delayMs: number): Promise<'snoozed' | 'lease-lost'>
  checkpointTaskRun(lease: Lease, state: string): Promise<'saved' | 'lease-lost'>
  cancelTaskRuns(ids: readonly RunId[], detail?: string): Promise<CancelAnswer[]>
  expireTaskRuns(limit: number): Promise<RunId[]>
  retryTaskRun(id: RunId): Promise<RetryAnswer>
  setConcurrencyLimit(scope: string, slots: number): Promise<void>
  pauseQueue(queue: string, by: string): Promise<void>
  resumeQueue(queue: string): Promise<void>
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
    promoteKeys: (keys) => promoteKeys(db, keys),
    sweepGatedKeys: (limit) => sweepGatedKeys(db, limit),
    nextDueInMs: () => nextDueInMs(db),
    claimAvailableTaskRuns: (request) => claimAvailableTaskRuns(db, request),
    startTaskRuns: (leases) => startTaskRuns(db, leases),
    settleTaskRuns: (settlements) => settleTaskRuns(db, settlements),
    finishTaskRun: (lease, result) => finishTaskRun(db, lease, result),
    snoozeTaskRun: (lease, delayMs) => snoozeTaskRun(db, lease, delayMs),
    checkpointTaskRun: (lease, state) => checkpointTaskRun(db, lease, state),
    cancelTaskRuns: (ids, detail) => cancelTaskRuns(db, ids, detail),
    expireTaskRuns: (limit) => expireTaskRuns(db, limit),
    retryTaskRun: (id) => retryTaskRun(db, id),
    setConcurrencyLimit: (scope, slots) => setConcurrencyLimit(db, scope, slots),
    pauseQueue: (queue, by) => pauseQueue(db, queue, by),
    resumeQueue: (queue) => resumeQueue(db, queue),
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
