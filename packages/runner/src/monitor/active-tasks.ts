/**
 * The tasks that the worker is working on: runs with their lease, or plain ids. A plain id becomes a lease once the
 * database confirms that this worker holds the run, and a newer lease if the worker has claimed the run again.
 */
import { asRunId, leaseOf, type HeldRun, type Lease, type PlainLease } from '@q/store'

export interface ActiveTasks {
  add(task: string | PlainLease, issue?: string): void
  /** Removes a lease only if the worker has not claimed the run again since. Returns whether it removed anything. */
  remove(task: string | PlainLease): boolean
  /** The issue given when the task was added. */
  issueOf(task: string): string | undefined
  /** The ids, in the order they were added. */
  ids(): readonly string[]
  /** The leases that need heartbeats, given the leases that this worker holds in the database. */
  leases(held: readonly HeldRun[]): readonly Lease[]
}

interface Active {
  lease: Lease | undefined
  readonly byId: boolean
}

export function createActiveTasks(): ActiveTasks {
  const active = new Map<string, Active>()
  const issues = new Map<string, string>()
  return {
    add(task, issue) {
      if (issue !== undefined) issues.set(idOf(task), issue)
      if (typeof task === 'string') active.set(task, { lease: active.get(task)?.lease, byId: true })
      else active.set(task.runId, { lease: leaseGiven(task), byId: false })
    },
    remove(task) {
      const fence = active.get(idOf(task))?.lease?.fence
      if (typeof task !== 'string' && fence !== undefined && fence > task.fence) return false
      issues.delete(idOf(task))
      return active.delete(idOf(task))
    },
    issueOf: (task) => issues.get(task),
    ids: () => [...active.keys()],
    leases(held) {
      for (const run of held) {
        const known = active.get(run.runId)
        if (known === undefined) continue
        const isNewer = known.byId && run.fence > (known.lease?.fence ?? 0)
        if (known.lease === undefined || isNewer) known.lease = leaseOf(run)
      }
      return [...active.values()].flatMap(({ lease }) => lease ?? [])
    },
  }
}

function leaseGiven({ runId, fence }: PlainLease): Lease | undefined {
  const id = asRunId(runId)
  return id === undefined ? undefined : { runId: id, fence }
}

function idOf(task: string | PlainLease): string {
  return typeof task === 'string' ? task : task.runId
}
