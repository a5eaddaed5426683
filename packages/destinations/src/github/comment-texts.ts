/** The texts of comments. Their wording is an interface: people and scripts search for it. */
import type { HeartbeatAlert, HeartbeatData, Recovery } from '../report.ts'
import { codeSpan, durationText, uptimeText } from './text.ts'

const healthIcons = { healthy: '✅', degraded: '⚠️', unhealthy: '❌' } as const

export function heartbeatText(worker: string, heartbeat: HeartbeatData): string {
  const { metrics } = heartbeat
  return [
    '💓 **Worker Heartbeat**',
    '',
    `Worker: ${codeSpan(worker)}`,
    `Status: ${healthIcons[heartbeat.health_status]} ${heartbeat.health_status}`,
    `Timestamp: ${new Date(heartbeat.timestamp).toISOString()}`,
    `Active Tasks: ${heartbeat.current_tasks.length}`,
    `Available Capacity: ${heartbeat.capacity_available}`,
    '',
    '**Metrics:**',
    `- CPU: ${metrics.cpu_usage.toFixed(1)}%`,
    `- Memory: ${metrics.memory_usage.toFixed(1)} MB`,
    `- Uptime: ${uptimeText(metrics.uptime)}`,
    `- Completed: ${metrics.tasks_completed}`,
  ].join('\n')
}

/** Whether the issue was unassigned, or why not. */
export type Unassigned = 'removed' | 'not configured' | 'superseded' | { readonly refused: string }

/** Only completed actions have a check mark. */
export function recoveryText(worker: string, recovery: Recovery, unassigned: Unassigned): string {
  const requeued = isRequeued(recovery)
  const ended = `Run ended ${recovery.became}${recovery.code === null ? '' : ` (${recovery.code.replaceAll(/\W/g, '_')})`}`
  return [
    '⚠️ **Stale Lock Detected**',
    '',
    `Worker ${codeSpan(worker)} last seen ${durationText(recovery.silentMs)} ago.`,
    '',
    '**Actions Taken:**',
    `- ${unassignedText(unassigned)}`,
    '- ✅ Lock released',
    `- ${requeued ? '✅ Task returned to queue' : `❌ ${ended}`}`,
    '',
    requeued ? 'Task is now available for other workers to claim.' : 'Task does not run again unless it is retried.',
  ].join('\n')
}

/** Whether the run waits for another start. */
export function isRequeued({ became }: Recovery): boolean {
  return became === 'AVAILABLE' || became === 'PENDING'
}

export function alertText(worker: string, alert: HeartbeatAlert): string {
  return [
    '🚨 **Heartbeat Alert**',
    '',
    `Worker ${codeSpan(worker)} failed to send ${alert.consecutive_failures} heartbeats in a row.`,
    `Timestamp: ${new Date(alert.timestamp).toISOString()}`,
    `Error: ${codeSpan(alert.error)}`,
  ].join('\n')
}

/** A line of the aggregate comment. */
export interface WorkerRow {
  readonly health: HeartbeatData['health_status']
  readonly line: string
}

export function workerRow(worker: string, heartbeat: HeartbeatData): WorkerRow {
  const { health_status: health, metrics } = heartbeat
  const cells = [
    codeSpan(worker),
    `${healthIcons[health]} ${health}`,
    new Date(heartbeat.timestamp).toISOString(),
    heartbeat.current_tasks.length,
    heartbeat.capacity_available,
    `${metrics.cpu_usage.toFixed(1)}%`,
    `${metrics.memory_usage.toFixed(1)} MB`,
    uptimeText(metrics.uptime),
    metrics.tasks_completed,
  ]
  return { health, line: `| ${cells.join(' | ')} |` }
}

const aggregateHead = [
  '| Worker | Status | Timestamp | Active Tasks | Available Capacity | CPU | Memory | Uptime | Completed |',
  '|---|---|---|--:|--:|--:|--:|--:|--:|',
]
/** The number of rows that fit into one comment even if all have the maximum length. */
const rowsMax = 200

/** One table for many workers, the least healthy first. */
export function aggregateText(rows: readonly WorkerRow[]): string {
  const order = ['unhealthy', 'degraded', 'healthy']
  const lines = rows
    .toSorted((a, b) => order.indexOf(a.health) - order.indexOf(b.health) || (a.line < b.line ? -1 : 1))
    .map(({ line }) => line)
  const left = lines.length - rowsMax
  return [
    '💓 **Worker Heartbeats**',
    '',
    `Workers: ${rows.length}`,
    '',
    ...aggregateHead,
    ...lines.slice(0, rowsMax),
    ...(left > 0 ? ['', `${left} more workers are not shown.`] : []),
  ].join('\n')
}

function unassignedText(unassigned: Unassigned): string {
  if (unassigned === 'removed') return '✅ Assignment removed'
  if (unassigned === 'not configured') return '➖ Assignment removed: not configured'
  if (unassigned === 'superseded') return '➖ Assignment removed: the task has been started again since'
  return `❌ Assignment not removed: ${codeSpan(unassigned.refused)}`
}
