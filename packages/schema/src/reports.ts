/**
 * What the store, which writes reports to destinations, and the senders, which deliver them, both know of them: their
 * kinds, and a worker's heartbeat. Programs outside read the heartbeat, so the names and units of its members are fixed.
 */
export const reportKinds = ['run-ended', 'status', 'recovery', 'heartbeat', 'sample', 'alert'] as const
export type ReportKind = (typeof reportKinds)[number]

/** The heartbeat of a worker. */
export interface HeartbeatData {
  readonly worker_id: string
  /** In ms since 1970. */
  readonly timestamp: number
  readonly health_status: 'healthy' | 'degraded' | 'unhealthy'
  /** Ids of the runs that the worker is executing. */
  readonly current_tasks: readonly string[]
  /** The number of further runs that the worker can execute. */
  readonly capacity_available: number
  readonly metrics: WorkerMetrics
}

export interface WorkerMetrics {
  /** In percent of all cores. */
  readonly cpu_usage: number
  /** In MB, with child processes. */
  readonly memory_usage: number
  readonly tasks_completed: number
  readonly tasks_failed: number
  /** In seconds. */
  readonly uptime: number
}
