/** The verbs, bound to a database: the table of contents of this package. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { beatRunningTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from './heartbeats/beat-runs.ts'
import { upsertReplicaHeartbeat, type ReplicaVitals } from './heartbeats/beat-replica.ts'
import { deleteStaleReplicaHeartbeats } from './heartbeats/delete-stale.ts'
import { internLane, type LaneName } from './lanes.ts'
import type { Lease, RunId } from './lease.ts'
import { leaveDuty, takeDuty } from './liveness/duty.ts'
import { heldTaskRuns, type HeldRun } from './liveness/held.ts'
import { markPresence, withdrawPresence } from './liveness/presence.ts'
import { failStaleTaskRuns, reap, requeueStaleClaimed } from './liveness/reap.ts'
import type { Recovered } from './liveness/recover.ts'
import { getStaleTaskRuns, type StaleQuestion, type StaleRun } from './liveness/stale.ts'
import { countRunsByState, queueBacklog, type QueueBacklog } from './reads/backlog.ts'
import { listTaskRuns, type PageRequest, type RunFilter, type RunPage } from './reads/list-runs.ts'
import { findNode, listNodes, liveReplicas, type LiveReplica, type Node } from './reads/nodes.ts'
import { getTaskRun, type RunDetail } from './reads/run.ts'
import { awaitTaskRuns, getTaskRuns, type RunView } from './reads/runs.ts'
import { whyNotRunning, type Why } from './reads/why.ts'
import { drainReplica, undrainReplica } from './replicas/drain.ts'
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
import { pruneTaskRuns, type PruneRequest } from './runs/prune.ts'
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
  releaseTaskRuns(leases: readonly Lease[], by?: Settlement['by']): Promise<RunId[]>
  beatRunningTaskRuns(sender: BeatSender, beats: readonly RunBeat[]): Promise<BeatAnswer[]>
  pruneTaskRuns(request: PruneRequest): Promise<{ pruned: number; next: RunId | undefined }>
  getStaleTaskRuns(question?: StaleQuestion): Promise<StaleRun[]>
  reap(question: StaleQuestion & { readonly by: string }): Promise<Recovered>
  failStaleTaskRuns(question: Omit<StaleQuestion, 'states'> & { readonly by: string }): Promise<Recovered>
  requeueStaleClaimed(question: Omit<StaleQuestion, 'states'> & { readonly by: string }): Promise<Recovered>
  heldTaskRuns(replicaId: string): Promise<HeldRun[]>
  markPresence(): Promise<string[]>
  withdrawPresence(replicaId: string): Promise<void>
  takeDuty(duty: { name: string; holder: string; forMs: number }): Promise<{ mine: boolean; untilInMs: number }>
  leaveDuty(duty: { name: string; holder: string }): Promise<void>
  deleteStaleReplicaHeartbeats(olderThanMs: number): Promise<{ ids: string[]; count: number }>
  drainReplica(replicaId: string, order: { by: string; deadlineMs?: number }): Promise<'draining' | 'not-found'>
  undrainReplica(replicaId: string): Promise<'claiming' | 'not-found'>
  registerReplica(replica: ReplicaIntroduction): Promise<{ name: string; num: number }>
  upsertReplicaHeartbeat(replicaId: string, vitals: ReplicaVitals): Promise<{ draining: boolean }>
  retireReplica(replicaId: string): Promise<void>
  publishTasks(replicaId: string, tasks: readonly TaskNotice[]): Promise<void>
  publishedTasks(): Promise<PublishedTask[]>
  wakeQueue(queue: string): Promise<void>
  awaitTaskRuns(ids: readonly RunId[]): Promise<void>
  getTaskRuns(ids: readonly RunId[]): Promise<RunView[]>
  getTaskRun(id: RunId): Promise<RunDetail | undefined>
  listTaskRuns(filter?: RunFilter, page?: PageRequest): Promise<RunPage>
  whyNotRunning(id: RunId): Promise<Why | undefined>
  queueBacklog(): Promise<QueueBacklog[]>
  countRunsByState(): Promise<{ status: TaskState; runs: number }[]>
  listNodes(which?: { stopped?: boolean }): Promise<Node[]>
  findNode(text: string): Promise<Node[]>
  liveReplicas(which?: { capability?: string }): Promise<LiveReplica[]>
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
    releaseTaskRuns: (leases, by) => releaseTaskRuns(db, leases, by),
    beatRunningTaskRuns: (sender, beats) => beatRunningTaskRuns(db, sender, beats),
    pruneTaskRuns: (request) => pruneTaskRuns(db, request),
    getStaleTaskRuns: (question) => getStaleTaskRuns(db, question),
    reap: (question) => reap(db, question),
    failStaleTaskRuns: (question) => failStaleTaskRuns(db, question),
    requeueStaleClaimed: (question) => requeueStaleClaimed(db, question),
    heldTaskRuns: (replicaId) => heldTaskRuns(db, replicaId),
    markPresence: () => markPresence(db),
    withdrawPresence: (replicaId) => withdrawPresence(db, replicaId),
    takeDuty: (duty) => takeDuty(db, duty),
    leaveDuty: (duty) => leaveDuty(db, duty),
    deleteStaleReplicaHeartbeats: (olderThanMs) => deleteStaleReplicaHeartbeats(db, olderThanMs),
    drainReplica: (replicaId, order) => drainReplica(db, replicaId, order),
    undrainReplica: (replicaId) => undrainReplica(db, replicaId),
    registerReplica: (replica) => registerReplica(db, replica),
    upsertReplicaHeartbeat: (replicaId, vitals) => upsertReplicaHeartbeat(db, replicaId, vitals),
    retireReplica: (replicaId) => retireReplica(db, replicaId),
    publishTasks: (replicaId, tasks) => publishTasks(db, replicaId, tasks),
    publishedTasks: () => publishedTasks(db),
    wakeQueue: (queue) => wakeQueue(db, queue),
    awaitTaskRuns: (ids) => awaitTaskRuns(db, ids),
    getTaskRuns: (ids) => getTaskRuns(db, ids),
    getTaskRun: (id) => getTaskRun(db, id),
    listTaskRuns: (filter, page) => listTaskRuns(db, filter, page),
    whyNotRunning: (id) => whyNotRunning(db, id),
    queueBacklog: () => queueBacklog(db),
    countRunsByState: () => countRunsByState(db),
    listNodes: (which) => listNodes(db, which),
    findNode: (text) => findNode(db, text),
    liveReplicas: (which) => liveReplicas(db, which),
  }
}
