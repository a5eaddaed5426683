/** The declaration of a destination: an external system that receives reports. */
import type { ReportKind, TaskState } from '@q/schema'

export { reportKinds, type ReportKind } from '@q/schema'

export interface DestinationInput {
  readonly name: string
  /** `webhook`, `github`, `memory` or `log`. The kind determines the settings. */
  readonly kind: string
  readonly reports: readonly ReportKind[]
  /** Only reports about runs of these tasks, and workflows with these names. Empty: all. */
  readonly tasks?: readonly string[]
  /** Only status reports about changes to these states. Empty: all states. */
  readonly statuses?: readonly TaskState[]
  /** Plain data without secrets: settings name the variables and files that hold secrets. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** The interval of heartbeats and samples of each replica. Default: five minutes. */
  readonly everyMs?: number
}

export interface Destination extends Required<DestinationInput> {
  /** Whether a replica's file declared it. The file takes effect when a replica starts. */
  readonly declared: boolean
  readonly createdAt: Date
  readonly pausedAt: Date | null
  readonly pausedBy: string | null
  readonly pauseReason: string | null
}
