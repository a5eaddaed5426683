/** The answers of the API, as its schemas describe them: times are ISO text, ids are decimal text. */
import type {
  AttentionItem,
  Operation,
  Session,
  HeartbeatLane as Lane,
  NodeDetail as Detail,
  Task,
} from '@q/server/client'

export type {
  Action,
  Bounded,
  ContendedKey,
  Delivery,
  Destination,
  ErrorGroup,
  HeartbeatLane,
  HeldRun,
  Node,
  NodeDetail,
  Operation,
  OperationPreview,
  Overview,
  QueueDetail,
  QueueView,
  Recovery,
  Schedule,
  ScheduleTick,
  SeriesPoint,
  Session,
  SlotView,
} from '@q/server/client'
export type { Attention as AttentionList } from '@q/server/client'

export type Attention = AttentionItem
export type PublishedTask = Task
export type Scope = Session['scope']
export type OperationKind = Operation['kind']
export type LaneMark = Lane['marks'][number]
export type OnDeadline = Detail['node']['drainOnDeadline']
export type SeriesMetric = 'rate' | 'wait' | 'duration' | 'oldest' | 'ready'
export type { RunState as TaskState } from './run-contract.ts'

/** A list, or a page of one. */
export interface Items<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
}
