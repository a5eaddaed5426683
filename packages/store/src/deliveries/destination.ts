/** A destination, as users declare it: an external system that receives reports. */
import type { TaskState } from '@q/schema'

/** What a destination can ask for. */
export const reportKinds = ['run-ended', 'status', 'recovery', 'heartbeat', 'sample', 'alert'] as const
export type ReportKind = (typeof reportKinds)[number]

export interface DestinationInput {
  readonly name: string
  /** webhook, github, memory, log. The kind decides which settings there are. */
  readonly kind: string
  readonly reports: readonly ReportKind[]
  /** Only runs of these tasks, and workflows of these names. Empty: all. */
  readonly tasks?: readonly string[]
  /** Of status reports: only changes to these states. Empty: to every state. */
  readonly statuses?: readonly TaskState[]
  /** Plain data without secrets: settings name the variables and files that hold them. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** How often it receives heartbeats and samples of each replica. Default: five minutes. */
  readonly everyMs?: number
}

export interface Destination extends Required<DestinationInput> {
  /** Whether the file of a replica declares it: the file decides when a replica starts. */
  readonly declared: boolean
  readonly createdAt: Date
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pauseReason: string | null
}
