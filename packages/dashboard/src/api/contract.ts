/** The answers of the API, as its schemas describe them: times are ISO text, ids are decimal text. */
export type {
  Action,
  Attention,
  AttentionList,
  Bounded,
  ContendedKey,
  Delivery,
  Destination,
  ErrorGroup,
  HeartbeatLane,
  HeldRunView,
  LaneMark,
  Node,
  NodeDetail,
  OnDeadline,
  Operation,
  OperationKind,
  OperationPreview,
  Overview,
  PublishedTask,
  QueueDetail,
  QueueView,
  RecoveryView,
  Schedule,
  ScheduleTick,
  Scope,
  SeriesMetric,
  SeriesPoint,
  Session,
  SlotView,
} from '@q/server/client'
export type { RunState as TaskState } from './run-contract.ts'

/** A list, or a page of one. */
export interface Items<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
}
