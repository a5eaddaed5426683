/**
 * The workers that are executing runs for issues of a repository, according to their last heartbeats. All replicas
 * share the list.
 */
import type { HeartbeatData } from '../report.ts'
import type { SenderState } from '../sender.ts'
import { workerRow, type WorkerRow } from './comment-texts.ts'
import { type Repository, repositoryName } from './issue.ts'

export interface ActiveWorker extends WorkerRow {
  readonly atMs: number
  /** The numbers of the issues. */
  readonly issues: readonly number[]
}

export type ActiveWorkers = Readonly<Record<string, ActiveWorker>>

interface WorkerReport {
  readonly repository: Repository
  readonly worker: string
  readonly heartbeat: HeartbeatData
  readonly issues: readonly number[]
}

/** A worker is no longer active if its last heartbeat is older than this. */
const silentMsMax = 900_000
/** The shortest time between two updates of a worker that still works on the same issues. */
const recordEveryMs = 60_000

/** Adds a worker to the list, or removes it if it works on no issue. Returns the list. */
export async function recordWorker(
  { state }: { readonly state: SenderState },
  { repository, worker, heartbeat, issues }: WorkerReport,
): Promise<ActiveWorkers> {
  const key = `workers/${repositoryName(repository)}`
  const stored = JSON.parse((await state.get(key)) ?? '{}') as ActiveWorkers
  const atMs = heartbeat.timestamp
  const last = stored[worker]
  if (last === undefined ? issues.length === 0 : isAsBefore(last, issues, atMs)) return stored
  const others = Object.entries(stored).filter(([id, seen]) => id !== worker && seen.atMs > atMs - silentMsMax)
  const present = issues.length === 0 ? [] : [[worker, { ...workerRow(worker, heartbeat), atMs, issues }] as const]
  const workers = Object.fromEntries([...others, ...present])
  await state.put(key, JSON.stringify(workers))
  return workers
}

function isAsBefore(last: ActiveWorker, issues: readonly number[], atMs: number): boolean {
  return last.atMs + recordEveryMs > atMs && last.issues.join() === issues.join()
}
