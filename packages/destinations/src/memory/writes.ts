/** Computes the changes that a report makes in the memory file. Pure. docs/how-to/memory-server.md lists the keys and their values. */
import type { HeartbeatAlert, HeartbeatData, Recovery, Report, RunStatusChange } from '../report.ts'
import { sanitizedId } from '../sanitized-id.ts'
import type { Keys } from './keys.ts'

export type Write = Add | Remove

/** Adds a value to an entity, which keeps its newest `keep` values. */
interface Add {
  readonly kind: 'add'
  readonly key: string
  readonly entityType: string
  readonly text: string
  readonly keep: number
  readonly series?: Series
  /** The worker that the write is about, as it appears in keys. */
  readonly worker?: string
}

/** Removes an entity, unless it has a value that is newer than `until`. */
interface Remove {
  readonly kind: 'remove'
  readonly key: string
  readonly until: number
}

/** A series of entities, of which only the newest are kept. Their keys are `before` followed by a timestamp. */
export interface Series {
  readonly before: string
  readonly timestamp: number
  readonly keep: number
}

/** One day of heartbeats at one per five minutes. */
const samplesKept = 288
const recoveriesKept = 1000
const failuresKept = 50
const errorLengthMax = 500

export function writesOf(report: Report, keys: Keys, { locks }: { readonly locks: boolean }): readonly Write[] {
  switch (report.kind) {
    case 'heartbeat':
      return [latest(report.payload.heartbeat, keys)]
    case 'sample':
      return [sample(report.payload, keys)]
    case 'alert':
      return [failure(report.payload, keys)]
    case 'recovery':
      return [recovery(report.payload, keys), ...(locks ? [unlock(report.payload, keys)] : [])]
    case 'run-ended':
      return locks ? [unlock(report.payload, keys)] : []
    case 'status':
      return locks && report.payload.of === 'run' ? [lockOrUnlock(report.payload, keys)] : []
  }
}

function latest(heartbeat: HeartbeatData, keys: Keys): Add {
  const worker = sanitizedId(heartbeat.worker_id)
  const text = JSON.stringify(heartbeat)
  return { kind: 'add', key: keys.heartbeat(worker), entityType: 'heartbeat', text, keep: 1, worker }
}

function sample(heartbeat: HeartbeatData, keys: Keys): Add {
  const { timestamp, health_status, current_tasks, capacity_available, metrics } = heartbeat
  const worker = sanitizedId(heartbeat.worker_id)
  const before = keys.samples(worker)
  return {
    kind: 'add',
    key: `${before}${timestamp}`,
    entityType: 'heartbeat-sample',
    text: JSON.stringify({ timestamp, health_status, task_count: current_tasks.length, capacity_available, metrics }),
    keep: 1,
    series: { before, timestamp, keep: samplesKept },
    worker,
  }
}

function failure({ worker_id, timestamp, error, consecutive_failures }: HeartbeatAlert, keys: Keys): Add {
  const worker = sanitizedId(worker_id)
  return {
    kind: 'add',
    key: keys.failures(worker),
    entityType: 'heartbeat-failures',
    text: JSON.stringify({ timestamp, error: error.slice(0, errorLengthMax), consecutive_failures }),
    keep: failuresKept,
    worker,
  }
}

/** Runs recovered in the same millisecond share an entity. */
function recovery({ runId, task, worker, silentMs, cause, became, code, at }: Recovery, keys: Keys): Add {
  const timestamp = Date.parse(at)
  const value = { timestamp, task_id: runId, task, worker_id: worker, stale_duration: silentMs, cause, became, code }
  return {
    kind: 'add',
    key: `${keys.recoveries}${timestamp}`,
    entityType: 'lock-recovery',
    text: JSON.stringify(value),
    keep: recoveriesKept,
    series: { before: keys.recoveries, timestamp, keep: recoveriesKept },
  }
}

function lockOrUnlock(run: RunStatusChange, keys: Keys): Write {
  if (run.status !== 'CLAIMED' && run.status !== 'RUNNING') return unlock(run, keys)
  const value = { timestamp: Date.parse(run.at), task_id: run.runId, task: run.task, worker_id: run.worker }
  return { kind: 'add', key: keys.lock(run.runId), entityType: 'task-lock', text: JSON.stringify(value), keep: 1 }
}

/** A run that was claimed again after this report keeps its lock. */
function unlock({ runId, at }: { readonly runId: string; readonly at: string }, keys: Keys): Remove {
  return { kind: 'remove', key: keys.lock(runId), until: Date.parse(at) }
}
