/**
 * The tasks that the worker is working on: runs under their lease, or plain ids. An id without a fence becomes a lease as
 * soon as the database says that this worker holds that run.
 */
import { asRunId, leaseOf, type HeldRun, type Lease, type PlainLease } from '@q/store'

export interface ActiveTasks {
  add(task: string | PlainLease): void
  remove(task: string | PlainLease): void
  /** Ids in the order in which they were added. */
  ids(): readonly string[]
  /** The leases to send heartbeats for, given what the database says that this worker holds. */
  leases(held: readonly HeldRun[]): readonly Lease[]
}

export function createActiveTasks(): ActiveTasks {
  const active = new Map<string, Lease | undefined>()
  return {
    add(task) {
      if (typeof task === 'string') active.set(task, active.get(task))
      else active.set(task.runId, leaseGiven(task))
    },
    remove: (task) => void active.delete(typeof task === 'string' ? task : task.runId),
    ids: () => [...active.keys()],
    leases(held) {
      for (const run of held) if (active.has(run.runId)) active.set(run.runId, active.get(run.runId) ?? leaseOf(run))
      return [...active.values()].filter((lease) => lease !== undefined)
    },
  }
}

function leaseGiven({ runId, fence }: PlainLease): Lease | undefined {
  const id = asRunId(runId)
  return id === undefined ? undefined : { runId: id, fence }
}
