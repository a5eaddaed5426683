/**
 * The entry for processes that claim and execute runs themselves: `HeartbeatMonitor` sends their heartbeats. It imports
 * neither Piscina nor pino, so such a process loads neither.
 */
export { HeartbeatMonitor, type ActiveTask } from './monitor/heartbeat-monitor.ts'
export type { HeartbeatConfig } from './monitor/config.ts'
export type { MonitorAlert } from './monitor/failures.ts'
export type { HeartbeatDestination } from './monitor/deliveries.ts'
export type { ConfiguredDestination } from './monitor/sender-destination.ts'
export type { HealthStatus, HeartbeatData, WorkerMetrics } from '@q/store'
