/** Reports as the outbox hands them over. */
import type { HeartbeatData, Recovery, Report, RunStatusChange } from '../../src/index.ts'

let lastId = 0

function reported<Kind extends Report['kind']>(
  kind: Kind,
  payload: Extract<Report, { kind: Kind }>['payload'],
): Report {
  lastId += 1
  return { id: `${lastId}.1`, kind, subject: kind, createdAt: new Date(0), attempt: 1, payload } as Report
}

export function heartbeatData(worker: string, timestamp: number): HeartbeatData {
  return {
    worker_id: worker,
    timestamp,
    health_status: 'healthy',
    current_tasks: ['41', '42'],
    capacity_available: 3,
    metrics: { cpu_usage: 45.2, memory_usage: 2048, tasks_completed: 42, tasks_failed: 2, uptime: 7200 },
  }
}

export function heartbeat(worker: string, timestamp: number): Report {
  return reported('heartbeat', { heartbeat: heartbeatData(worker, timestamp), runs: [] })
}

export function sample(worker: string, timestamp: number): Report {
  return reported('sample', heartbeatData(worker, timestamp))
}

export function alert(worker: string, timestamp: number, error = 'connection refused'): Report {
  return reported('alert', { worker_id: worker, timestamp, error, consecutive_failures: 3 })
}

const run = { epoch: 1, task: 'resize', queue: 'default', issue: null }

export function recovery(runId: string, timestamp: number, more: Partial<Recovery> = {}): Report {
  const at = new Date(timestamp).toISOString()
  const payload = { ...run, runId, worker: 'eu-1', silentMs: 932_000, cause: 'presence', became: 'AVAILABLE' } as const
  return reported('recovery', { ...payload, code: null, at, ...more })
}

export function status(runId: string, state: RunStatusChange['status'], timestamp: number): Report {
  const at = new Date(timestamp).toISOString()
  return reported('status', { of: 'run', ...run, runId, status: state, previous: null, worker: 'eu-1', at })
}

export function ended(runId: string, timestamp: number): Report {
  const at = new Date(timestamp).toISOString()
  return reported('run-ended', { ...run, runId, status: 'SUCCEEDED', code: null, detail: null, at })
}
