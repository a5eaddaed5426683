/** Every run that was enqueued in the database, oldest first, including runs that have ended. */
import type { TaskState } from '@q/schema'
import type { Connection, RunId } from '@q/store'

export interface StoredRun<Payload = unknown> {
  readonly id: RunId
  readonly task: string
  readonly payload: Payload
  readonly queue: string
  readonly group: string
  readonly priority: number
  /** The time from the enqueue to the earliest start; a retry or snooze changes it. */
  readonly delayMs: number
  readonly status: TaskState
}

export async function enqueuedRuns({ db }: Pick<Connection, 'db'>, task?: string): Promise<StoredRun[]> {
  const rows = await db
    .selectFrom('q.task_run as r')
    .leftJoin('q.lane as lane', 'lane.id', 'r.lane')
    .select(['r.id', 'r.task', 'r.payload', 'lane.queue', 'r.grp', 'r.priority', 'r.status'])
    .select(['r.run_at', 'r.created_at'])
    .$if(task !== undefined, (runs) => runs.where('r.task', '=', task ?? ''))
    .orderBy('r.id')
    .execute()
  return rows.map((row) => ({
    id: row.id as RunId,
    task: row.task,
    payload: row.payload,
    queue: row.queue ?? '',
    group: row.grp,
    priority: row.priority,
    delayMs: Math.max(0, row.run_at.getTime() - row.created_at.getTime()),
    status: row.status,
  }))
}
