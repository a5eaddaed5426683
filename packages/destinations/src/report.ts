/**
 * Reports, as the outbox stores them and destinations receive them. A report contains everything that a destination
 * needs, because its run may be pruned before the report is sent. `id` stays the same when a report is sent again, so
 * that a receiver can recognise a repeat.
 */
import type { HeartbeatData, ReportKind, TaskState } from '@q/schema'

export type { HeartbeatData, ReportKind, WorkerMetrics } from '@q/schema'

export type Report =
  | ReportOf<'status', RunStatusChange | WorkflowStatusChange>
  | ReportOf<'run-ended', RunEnded>
  | ReportOf<'recovery', Recovery>
  | ReportOf<'heartbeat', Heartbeat>
  | ReportOf<'sample', HeartbeatData>
  | ReportOf<'alert', HeartbeatAlert>

interface ReportOf<Kind extends ReportKind, Payload> {
  readonly id: string
  readonly kind: Kind
  /**
   * The run, workflow or replica of the report: `run/17`, `workflow/3`, `replica/eu-1`. Reports with the same subject
   * are sent in order.
   */
  readonly subject: string
  readonly createdAt: Date
  /** Counts tries to send the report, from 1. */
  readonly attempt: number
  readonly payload: Payload
}

/** The members of a run that reports contain. */
interface ReportedRun {
  readonly runId: string
  readonly epoch: number
  readonly task: string
  readonly queue: string
  /** The value in the run's payload that the destination's setting `issue` points to. */
  readonly issue: string | null
}

export interface RunStatusChange extends ReportedRun {
  readonly of: 'run'
  readonly status: TaskState
  /** Null: the run was enqueued. */
  readonly previous: TaskState | null
  /** The name of the replica that holds or held the run. */
  readonly worker: string | null
  /** ISO time. */
  readonly at: string
}

export interface WorkflowStatusChange {
  readonly of: 'workflow'
  readonly workflowId: string
  readonly name: string
  readonly status: string
  readonly previous: string | null
  readonly at: string
}

export interface RunEnded extends ReportedRun {
  readonly status: TaskState
  readonly code: string | null
  readonly detail: string | null
  readonly at: string
}

export interface Recovery extends ReportedRun {
  /** The name of the replica that died. */
  readonly worker: string
  /** How long it had been silent. */
  readonly silentMs: number
  readonly cause: string
  /** The run's new state: AVAILABLE or PENDING (requeued), or FAILED. */
  readonly became: TaskState
  readonly code: string | null
  readonly at: string
}

export interface Heartbeat {
  readonly heartbeat: HeartbeatData
  /** The runs that the worker is executing, at most 100. */
  readonly runs: readonly ReportedRun[]
}

/** An alert: heartbeats of a worker failed several times in a row. */
export interface HeartbeatAlert {
  readonly worker_id: string
  readonly timestamp: number
  readonly error: string
  readonly consecutive_failures: number
}
