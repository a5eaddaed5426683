export { destinationProblems, remoteProblems, type DestinationDeclaration } from './check-destination.ts'
export { destinationKinds } from './kinds.ts'
export { testDestination } from './test-destination.ts'
export type {
  Heartbeat,
  HeartbeatAlert,
  HeartbeatData,
  Recovery,
  Report,
  ReportKind,
  RunEnded,
  RunStatusChange,
  WorkerMetrics,
  WorkflowStatusChange,
} from './report.ts'
export type {
  DestinationKind,
  Sender,
  SenderContext,
  SenderState,
  SharedState,
  SendResult,
  Settings,
} from './sender.ts'
