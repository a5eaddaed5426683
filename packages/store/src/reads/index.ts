export type { OlderReplica } from './nodes/older-replicas.ts'
export {
  getWorkflows,
  listSteps,
  type StepPageRequest,
  type StepView,
  type WorkflowView,
} from './workflows/workflow.ts'
export { awaitTaskRuns, getTaskRuns, type RunView } from './runs/runs.ts'
export { getTaskRun, type RunDetail, type RunRecord, type RunRecovery, type RunHeartbeat } from './runs/run.ts'
export type { LinkedRun, RunLinks } from './runs/run-links.ts'
export { runTicks, type RunTick } from './runs/run-ticks.ts'
export type { RunAttempt } from './runs/attempts.ts'
export type { RunEvent } from './runs/events.ts'
export type { TimelineEntry } from './runs/timeline.ts'
export { countTaskRuns, listTaskRuns, type CountRequest, type RunCount, type RunSummaryPage } from './runs/list-runs.ts'
export type { PageRequest, RunFilter, RunViewName } from './runs/run-filter.ts'
export type { RunSummary } from './runs/run-summary.ts'
export { stateNames, statesNamed } from './runs/status-names.ts'
export { countRunsByState } from './runs/count-by-state.ts'
export type { Bounded } from './bounded.ts'
export { listQueues } from './queues/list-queues.ts'
export { getQueue, type QueueDetail, type QueueGroup, type QueueTask } from './queues/get-queue.ts'
export type { QueueRates, QueueView } from './queues/queue-view.ts'
export type { WaitingCounts } from './queues/waiting-counts.ts'
export {
  contendedKeys,
  type ContendedKey,
  type ContendedKeysRequest,
  type KeyHolderView,
} from './queues/contended-keys.ts'
export { unservedLanes, type UnservedLane } from './queues/unserved-lanes.ts'
export { findNode, listNodes, liveReplicas, type LiveReplica } from './nodes/nodes.ts'
export { externalPreset, type Node, type NodeDrain, type SlotView } from './nodes/node-view.ts'
export { nodeDetail, type NodeDetail } from './nodes/node-detail.ts'
export { nodeHeartbeat, nodeHeartbeats, type NodeHeartbeat } from './nodes/node-heartbeats.ts'
export type { HeldRunView } from './nodes/held-runs.ts'
export { nodeSamples, type HeartbeatGap, type NodeHeartbeatFailure, type NodeSample } from './nodes/node-history.ts'
export { attention, type AttentionReport } from './attention/attention.ts'
export { attentionKinds, type Attention, type AttentionKind } from './attention/attention-item.ts'
export { endedTraces, type EndedTrace } from './runs/ended-traces.ts'
export { clusterGauges, type ClusterGauges, type QueueGauges } from './overview/cluster-gauges.ts'
export { overview, type Overview } from './overview/overview.ts'
export { series, type SeriesMetric, type SeriesPoint, type SeriesRequest } from './rates/series.ts'
export {
  getErrorGroup,
  listErrorGroups,
  type ErrorGroup,
  type ErrorGroupPage,
  type ErrorGroupRequest,
} from './errors/error-groups.ts'
export { listWorkflows, type WorkflowRequest } from './workflows/list-workflows.ts'
export { scheduleTicks, type ScheduleTick } from './schedules/schedule-ticks.ts'
export { listDeliveries, type DeliveryRequest, type DeliveryView } from './deliveries/list-deliveries.ts'
export type { DeliveryGauges } from './deliveries/delivery-gauges.ts'
export { listDestinations, readDestinations, type DestinationView } from './deliveries/list-destinations.ts'
export { heartbeatLanes, type HeartbeatLane, type LaneMark, type LaneWindow } from './nodes/heartbeat-lanes.ts'
export type { ListRequest, Page } from './page.ts'
export { listRecoveries, type RecoveryRequest, type RecoveryView } from './recoveries/list-recoveries.ts'
export { whyNotRunning, type Why } from './why/why.ts'
export { sentenceOf, type KeyHolder, type Reason } from './why/why-reasons.ts'
