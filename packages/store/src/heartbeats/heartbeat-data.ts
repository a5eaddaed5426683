/**
 * A replica's heartbeat as the message that leaves the system: for the CLI, the HTTP API, `HeartbeatMonitor` and
 * destinations. The names and units of its members are fixed, because programs outside read them. Pure.
 *
 * `worker_id` is the replica's name: unique among live replicas, and the same after a restart, so a destination
 * overwrites the last message of a worker instead of collecting one per process.
 */
import type { HeartbeatData } from '@q/schema'
import type { ReplicaStats } from './beat-replica.ts'

export type HealthStatus = ReplicaStats['health']

export type { HeartbeatData, WorkerMetrics } from '@q/schema'

/** One entry of the time series of a worker. */
export interface HeartbeatSample extends Omit<HeartbeatData, 'worker_id' | 'current_tasks'> {
  readonly task_count: number
}

export interface Beat {
  readonly name: string
  readonly atMs: number
  readonly runIds: readonly string[]
  readonly stats: Pick<
    ReplicaStats,
    'health' | 'cpuPercent' | 'memoryMb' | 'freeSlots' | 'completed' | 'failed' | 'uptimeS'
  >
}

export function heartbeatData({ name, atMs, runIds, stats }: Beat): HeartbeatData {
  return {
    worker_id: name,
    timestamp: Math.round(atMs),
    health_status: stats.health,
    current_tasks: runIds,
    capacity_available: stats.freeSlots,
    metrics: {
      cpu_usage: Math.round(stats.cpuPercent * 10) / 10,
      memory_usage: stats.memoryMb,
      tasks_completed: stats.completed,
      tasks_failed: stats.failed,
      uptime: stats.uptimeS,
    },
  }
}

export function heartbeatSample(heartbeat: HeartbeatData): HeartbeatSample {
  const { timestamp, health_status, current_tasks, capacity_available, metrics } = heartbeat
  return { timestamp, health_status, task_count: current_tasks.length, capacity_available, metrics }
}
