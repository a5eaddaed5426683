export { connect, type Connection, type ConnectionOptions, type Db, type Origin } from './db.ts'
export { borrow, type PgPool } from './borrow.ts'
export { createBatcher, type Batcher } from './batcher.ts'
export { createTurns, type InTurn } from './in-turn.ts'
export { isAboutConnection, isRefusal, isTransactionConflict } from './sql-state.ts'
export { createStore, type Store } from './store.ts'
export { usingDrizzle, type DrizzleTransaction } from './adapters/using-drizzle.ts'
export { usingKnex, type KnexTransaction } from './adapters/using-knex.ts'
export { usingKysely, type KyselyTransaction } from './adapters/using-kysely.ts'
export { usingPg, type PgClient } from './adapters/using-pg.ts'
export { usingPostgresJs, type PostgresJsTransaction } from './adapters/using-postgres-js.ts'
export { usingPrisma, type PrismaTransaction } from './adapters/using-prisma.ts'
export { explainDatabaseError, explainEveryDatabaseError, oldestServer } from './database-problem.ts'
export { placeOf } from './database-url.ts'
export { migrateDatabase, migrationPlan, pendingScript, requireSchema, type MigrationPlan } from './prepare-database.ts'
export type { OlderReplica } from './reads/older-replicas.ts'
export { asRunId, leaseKey, leaseOf, type Lease, type RunId, type PlainLease } from './lease.ts'
export { listen, wakeQueue, type Listener, type ListenHandlers, type Wake } from './wakes.ts'

export { enqueueTaskRuns } from './runs/enqueue.ts'
export { dueInMs, type EnqueuedRun, type NewRun } from './runs/new-run.ts'
export type { ClaimedRun, ClaimRequest } from './runs/claim.ts'
export { claimAvailableTaskRuns, createClaimer, type Claimer } from './runs/claimer.ts'
export { createFairShares, type FairShares } from './runs/fair-shares.ts'
export { takeTurn, type Turn, type TurnAnswer } from './runs/turn.ts'
export type { Finish } from './runs/finish.ts'
export { startTaskRuns } from './runs/start.ts'
export {
  finishTaskRun,
  settleTaskRuns,
  type Outcome,
  type Settled,
  type Settlement,
  type SettleOptions,
} from './runs/settle.ts'
export { snoozeTaskRun } from './runs/snooze.ts'
export { checkpointTaskRun } from './runs/checkpoint.ts'
export { appendTaskLogs, type LogAnswer, type LogLine } from './logs/append.ts'
export { readTaskLogs, type LoggedLine, type LogPage, type LogPlace, type LogRequest } from './logs/read.ts'
export { logLimits } from './logs/storable-line.ts'
export { cancelTaskRuns, type CancelAnswer } from './runs/cancel.ts'
export { expireTaskRuns } from './runs/expire.ts'
export { retryTaskRun, type RetryAnswer } from './runs/retry.ts'
export { setConcurrencyLimit } from './gates/concurrency-limit.ts'
export { setGroupWeight } from './gates/group-weight.ts'
export { pauseQueue, resumeQueue } from './gates/pause.ts'
export { startWorkflow } from './workflows/start.ts'
export {
  asWorkflowId,
  type StartedWorkflow,
  type StepTask,
  type WorkflowId,
  type WorkflowStart,
} from './workflows/new-workflow.ts'
export { pauseWorkflow, resumeWorkflow, type PauseAnswer, type ResumeAnswer } from './workflows/pause.ts'
export { cancelWorkflow, type CancelWorkflowAnswer } from './workflows/cancel.ts'
export { retryFailedSteps, type RetryWorkflowAnswer } from './workflows/retry.ts'
export { repairWorkflows, type Repaired, type RepairRequest } from './workflows/repair.ts'
export type { Fault, Finding } from './workflows/findings.ts'
export { pruneWorkflows, type WorkflowPruneRequest } from './workflows/prune.ts'
export { stepPayloads } from './workflows/step-values.ts'
export { awaitWorkflows } from './workflows/await.ts'
export { getWorkflows, listSteps, type StepPageRequest, type StepView, type WorkflowView } from './reads/workflow.ts'
export type { WorkflowStatus } from './workflows/lock.ts'
export { releaseTaskRuns } from './runs/release.ts'
export { promoteDueTaskRuns, promoteKeys, sweepGatedKeys } from './runs/promote.ts'
export { beatTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from './heartbeats/beat-runs.ts'
export {
  upsertReplicaHeartbeat,
  type BeatOptions,
  type HeartbeatAnswer,
  type ReplicaVitals,
} from './heartbeats/beat-replica.ts'
export { recordHeartbeatFailures, type HeartbeatFailure } from './heartbeats/record-failures.ts'
export { deleteStaleReplicaHeartbeats } from './heartbeats/delete-stale.ts'
export { getStaleTaskRuns, type StaleCause, type StaleQuestion, type StaleRun } from './liveness/stale.ts'
export { failStaleTaskRuns, reap, requeueStaleClaimed } from './liveness/reap.ts'
export type { Recovered } from './liveness/recover.ts'
export { heldTaskRuns, type HeldRun } from './liveness/held.ts'
export { leaveDuty, takeDuty } from './liveness/duty.ts'
export { withdrawPresence, type Gone } from './liveness/presence.ts'
export { deputyOf, watchPresence, type WatchAnswer, type WatchRequest } from './liveness/watch.ts'
export {
  openReplicaSession,
  type ReplicaSession,
  type ReplicaSessionHandlers,
  type SessionOwner,
} from './liveness/replica-session.ts'
export { sessionsLast } from './sessions-last.ts'
export { recoverOwnTaskRuns, type OwnRecovery } from './liveness/recover-own.ts'
export {
  announceLeaving,
  drainReplica,
  leaveIfOrdered,
  undrainReplica,
  type LeaveDecision,
  type StandingDrain,
  type NewDrainOrder,
  type UndrainAnswer,
} from './replicas/drain.ts'
export type { DrainOrder, OnDeadline } from './replicas/drain-order.ts'
export { markBusy, markIdle } from './replicas/idle.ts'
export { pruneReplicas, type PrunedReplicas, type ReplicaPruneRequest } from './replicas/prune.ts'
export { sampleReplicas } from './replicas/sample.ts'
export { pruneTaskRuns, type PruneRequest } from './runs/prune.ts'
export { registerReplica, type ReplicaIntroduction, type Thresholds } from './replicas/register.ts'
export { retireReplica } from './replicas/retire.ts'
export { findLane, internLane, noLane, type LaneName } from './lanes.ts'
export { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from './tasks/publish.ts'
export { createTaskMemory, type TaskMemory, type TaskReads } from './tasks/task-memory.ts'
export { publishSchedules, putSchedule, type OwnSchedule, type PutAnswer } from './schedules/put.ts'
export { pauseSchedule, removeSchedule, resumeSchedule } from './schedules/change.ts'
export { dueSchedules, nextTickInMs, type DueSchedule } from './schedules/due.ts'
export { enqueueTicks, type Ticking } from './schedules/tick.ts'
export { getSchedule, listSchedules } from './schedules/read.ts'
export { ownScheduleName, type Schedule, type ScheduleRunOptions, type ScheduleWish } from './schedules/schedule.ts'
export { awaitTaskRuns, getTaskRuns, type RunView } from './reads/runs.ts'
export { getTaskRun, type RunDetail, type RunRecord, type RunRecovery, type RunSign } from './reads/run.ts'
export type { RunAttempt } from './reads/attempts.ts'
export type { RunEvent } from './reads/events.ts'
export type { Happening } from './reads/timeline.ts'
export { listTaskRuns, type PageRequest, type RunFilter, type RunPage, type RunSummary } from './reads/list-runs.ts'
export { statesNamed } from './reads/status-names.ts'
export { countRunsByState, queueBacklog, type QueueBacklog } from './reads/backlog.ts'
export { findNode, listNodes, liveReplicas, type LiveReplica, type Node } from './reads/nodes.ts'
export type { NodeState } from './replicas/alive.ts'
export { whyNotRunning, type Why } from './reads/why.ts'
export { sentenceOf, type KeyHolder, type Reason } from './reads/why-reasons.ts'
