export { connect, type Connection, type ConnectionOptions, type Db, type Origin } from './connection/db.ts'
export { wrapCallerConnection, type PgPool } from './connection/caller-connection.ts'
export { createBatcher, type Batcher } from './batcher.ts'
export { createCachedRead, type CachedRead } from './cached-read.ts'
export { createSerializer, type Serialize } from './connection/serialize.ts'
export { isAboutConnection, isRefusal, isTransactionConflict } from './connection/sql-state.ts'
export { createStore, type Store } from './store.ts'
export { usingDrizzle, type DrizzleTransaction } from './adapters/using-drizzle.ts'
export { usingKnex, type KnexTransaction } from './adapters/using-knex.ts'
export { usingKysely, type KyselyTransaction } from './adapters/using-kysely.ts'
export { usingPg, type PgClient } from './adapters/using-pg.ts'
export { usingPostgresJs, type PostgresJsTransaction } from './adapters/using-postgres-js.ts'
export { usingPrisma, type PrismaTransaction } from './adapters/using-prisma.ts'
export { explainDatabaseError, explainEveryDatabaseError, oldestServer } from './connection/database-problem.ts'
export { databaseAddress } from './connection/database-url.ts'
export {
  migrateDatabase,
  migrationPlan,
  pendingScript,
  requireSchema,
  type MigrationPlan,
} from './connection/prepare-database.ts'
export { asRunId, leaseKey, leaseOf, type Lease, type RunId, type PlainLease } from './lease.ts'
export {
  listen,
  wakeQueue,
  type Ended,
  type EndedWake,
  type Listener,
  type ListenHandlers,
  type Wake,
} from './wakes.ts'

export { enqueueTaskRuns } from './runs/enqueue.ts'
export { dueInMs, type EnqueuedRun, type NewRun } from './runs/new-run.ts'
export type { ClaimedRun, ClaimRequest } from './runs/claim.ts'
export { claimAvailableTaskRuns, createClaimer, type Claimer } from './runs/claimer.ts'
export { createFairShares, type FairShares } from './runs/fair-shares.ts'
export { exchangeWork, type WorkExchange, type WorkExchangeResult } from './runs/work-exchange.ts'
export type { Finish } from './runs/finish.ts'
export { startTaskRuns } from './runs/start.ts'
export {
  finishTaskRun,
  settleTaskRuns,
  type Outcome,
  type SettleAnswer,
  type Settlement,
  type SettleOptions,
} from './runs/settle.ts'
export { snoozeTaskRun } from './runs/snooze.ts'
export { checkpointTaskRun } from './runs/checkpoint.ts'
export { appendTaskLogs, type LogAnswer, type LogLine } from './logs/append.ts'
export { readTaskLogs, type LoggedLine, type LogPage, type LogCursor, type LogRequest } from './logs/read.ts'
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
export { repairWorkflows, type RepairResult, type RepairRequest } from './workflows/repair.ts'
export type { InconsistencyKind, Inconsistency } from './workflows/inconsistencies.ts'
export { pruneWorkflows, type WorkflowPruneRequest } from './workflows/prune.ts'
export { stepPayloads } from './workflows/step-values.ts'
export { awaitWorkflows } from './workflows/await.ts'
export type { WorkflowStatus } from './workflows/lock.ts'
export { releaseTaskRuns } from './runs/release.ts'
export { promoteDueTaskRuns, promoteKeys, sweepGatedKeys } from './runs/promote.ts'
export { beatTaskRuns, type BeatAnswer, type BeatSender, type RunBeat } from './heartbeats/beat-runs.ts'
export {
  upsertReplicaHeartbeat,
  type BeatOptions,
  type HeartbeatAnswer,
  type ReplicaStats,
} from './heartbeats/beat-replica.ts'
export {
  heartbeatData,
  heartbeatSample,
  type HealthStatus,
  type HeartbeatData,
  type HeartbeatSample,
  type WorkerMetrics,
} from './heartbeats/heartbeat-data.ts'
export { recordHeartbeatFailures, type HeartbeatFailure } from './heartbeats/record-failures.ts'
export { getStaleTaskRuns, type StaleCause, type StaleQuery, type StaleRun } from './liveness/stale.ts'
export { failStaleTaskRuns, reap, requeueStaleClaimed } from './liveness/reap.ts'
export type { DeadHolder, RecoveryResult } from './liveness/recover.ts'
export { heldTaskRuns, leaseHolder, type HeldRun, type LeaseHolder } from './liveness/held.ts'
export { releaseDuty, takeDuty } from './liveness/duty.ts'
export { withdrawPresence, type MissingReplica } from './liveness/presence.ts'
export { deputyOf, watchPresence, type WatchAnswer, type WatchRequest } from './liveness/watch.ts'
export {
  openReplicaSession,
  type ReplicaSession,
  type ReplicaSessionHandlers,
  type SessionOwner,
} from './liveness/replica-session.ts'
export { keepsSessions } from './connection/detect-pooler.ts'
export { recoverOwnTaskRuns, type OwnRecovery } from './liveness/recover-own.ts'
export {
  announceLeaving,
  drainReplica,
  leaveIfOrdered,
  undrainReplica,
  type LeaveDecision,
  type CurrentDrain,
  type NewDrainOrder,
  type UndrainAnswer,
} from './replicas/drain.ts'
export type { DrainOrder, OnDeadline } from './replicas/drain-order.ts'
export { markBusy, markIdle } from './replicas/idle.ts'
export {
  deleteStaleReplicaHeartbeats,
  pruneReplicas,
  type PrunedReplicas,
  type ReplicaPruneRequest,
} from './replicas/prune.ts'
export { sampleReplicas } from './replicas/sample.ts'
export { pruneTaskRuns, type PruneRequest } from './runs/prune.ts'
export { registerReplica, type ReplicaRegistration, type Thresholds } from './replicas/register.ts'
export { retireReplica } from './replicas/retire.ts'
export { findLane, internLane, noLane, type LaneName } from './lanes.ts'
export { publishedTasks, publishTasks, type PublishedTask, type TaskNotice } from './tasks/publish.ts'
export { createTaskCache, type TaskCache, type TaskReads } from './tasks/task-cache.ts'
export { publishSchedules, putSchedule, type OwnSchedule, type PutAnswer } from './schedules/put.ts'
export { pauseSchedule, removeSchedule, resumeSchedule } from './schedules/change.ts'
export { dueSchedules, nextTickInMs, type DueSchedule } from './schedules/due.ts'
export { enqueueTicks, type ScheduleAdvance } from './schedules/tick.ts'
export { getSchedule, listSchedules } from './schedules/read.ts'
export type { Schedule, ScheduleRunOptions, ScheduleInput } from './schedules/schedule.ts'
export { reportKinds, type Destination, type DestinationInput, type ReportKind } from './deliveries/destination.ts'
export { getDestinationState, setDestinationState, type StateKey } from './deliveries/destination-state.ts'
export { leaseDeliveries, type LeasedDelivery, type LeaseRequest } from './deliveries/lease-deliveries.ts'
export {
  markDeliveries,
  type DeliveryMark,
  type DeliveryOutcome,
  type MarkedDelivery,
} from './deliveries/mark-deliveries.ts'
export { pauseDestination, resumeDestination } from './deliveries/pause-destination.ts'
export { pruneDeliveries } from './deliveries/prune.ts'
export {
  putDestination,
  removeDestination,
  removeUndeclared,
  type PutDestinationAnswer,
  type PutDestinationOptions,
} from './deliveries/put-destination.ts'
export { redeliver, redeliverGivenUp, type RedeliverAnswer } from './deliveries/redeliver.ts'
export { reportHeartbeats, type HeartbeatReportRequest } from './deliveries/report-heartbeats.ts'
export * from './reads/index.ts'
export type { NodeState } from './replicas/alive.ts'
export type { DeadDuty } from './doctor/duties.ts'
export type { Rights } from './doctor/rights.ts'
export type { ServerFacts, ServerSetting } from './doctor/server.ts'
export type { SnapshotHolder } from './doctor/snapshots.ts'
export type { TableHealth } from './doctor/tables.ts'
export type { TriedHeartbeat } from './doctor/try-heartbeat.ts'
export { trySession, type TriedSession } from './doctor/try-session.ts'
export {
  askedAnswer,
  endAction,
  listActions,
  recordAction,
  type Action,
  type ActionEnd,
  type NewAction,
} from './audit/actions.ts'
export { muteErrorGroup, type Mute } from './errors/mute.ts'
export type { ErrorCount } from './errors/error-count.ts'
export { fingerprintOf } from './errors/fingerprint.ts'
export { reviewRecoveries, type Review } from './liveness/review.ts'
export { getOperation, listOperations, type Operation, type OperationKind } from './operations/operation.ts'
export { rehearseCancel, rehearseRetry, rehearseReview } from './operations/rehearse.ts'
export {
  previewOperation,
  requestOperation,
  type NewOperation,
  type OperationPreview,
  type PreviewRequest,
} from './operations/request.ts'
export { stepOperations, type StepAnswer, type StepRequest } from './operations/step.ts'
export { stopOperation } from './operations/stop.ts'
export type { StoredFilter } from './operations/stored-filter.ts'
export { enqueueAgain, type AgainRequest } from './runs/enqueue-again.ts'
export { runScheduleNow } from './schedules/run-now.ts'
export { flushTally, type Flush, type FlushAnswer } from './tally/flush.ts'
export { foldTally } from './tally/fold.ts'
export { bucketEndMs, bucketOf, countTime } from './tally/histogram.ts'
export { pruneOperate, type OperatePruneRequest } from './tally/prune.ts'
export { addTally, emptyTally, otherTasks, type OpenTally, type RunTally } from './tally/run-tally.ts'
export { recoveredRuns, type RecoveredRun } from './tally/recovered-runs.ts'
export { sampleQueues } from './tally/sample-queues.ts'
