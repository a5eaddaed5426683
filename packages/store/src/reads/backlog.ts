/**
 * What waits and what runs, per queue. No locks.
 *
 * What it costs: every run that waits or is held is counted, by the partial index of its state, so it grows with the
 * backlog and not with what has ended: some 30 ms per 100 000 runs that wait. The exception are steps of workflows that
 * wait for their parents: no index tells them from finished steps, so all steps that are kept are looked at.
 */
import type { TaskState } from '@q/schema'
import { sql } from 'kysely'
import type { Db } from '../db.ts'

export interface QueueBacklog {
  readonly queue: string
  readonly available: number
  readonly claimed: number
  readonly running: number
  /**
   * PENDING, by the gate they are at. `parents`: also steps whose workflow is paused. `task`: runs of tasks that no replica
   * has published, in the queue they asked for, else in `default`.
   */
  readonly waiting: {
    readonly time: number
    readonly concurrency: number
    readonly parents: number
    readonly task: number
  }
  /** How long the run that could be claimed first by age has been waiting for it; null when none is AVAILABLE. */
  readonly oldestAvailableMs: number | null
  readonly paused: boolean
  readonly pausedBy: string | null
  readonly pausedAt: Date | null
}

interface CountedQueue extends Omit<QueueBacklog, 'waiting'> {
  readonly time: number
  readonly concurrency: number
  readonly parents: number
  readonly task: number
}

/** Every queue that ever had a run or was paused, also the empty ones. */
export async function queueBacklog(db: Db): Promise<QueueBacklog[]> {
  // A whole statement by hand: one branch per partial index, none of which mentions a status.
  const { rows } = await sql<CountedQueue>`
WITH live AS (
  SELECT lane, NULL AS queue, 'available' AS what, count(*) AS runs, min(run_at) AS oldest FROM q.task_run WHERE ready GROUP BY lane
  UNION ALL
  SELECT lane, NULL, lower(status::text), count(*), NULL FROM q.task_run WHERE held GROUP BY lane, status
  UNION ALL
  SELECT lane, NULL, 'time', count(*), NULL FROM q.task_run WHERE due_at IS NOT NULL GROUP BY lane
  UNION ALL
  SELECT lane, NULL, 'concurrency', count(*), NULL FROM q.task_run WHERE gated_key IS NOT NULL GROUP BY lane
  UNION ALL
  SELECT lane, NULL, 'parents', count(*), NULL FROM q.task_run
  WHERE workflow_id IS NOT NULL AND status = 'PENDING' AND waiting_for IN ('parents', 'workflow') GROUP BY lane
  UNION ALL
  SELECT NULL, coalesce(asked ->> 'queue', 'default'), 'task', count(*), NULL FROM q.task_run
  WHERE asked IS NOT NULL AND finished_at IS NULL AND waiting_for = 'task' GROUP BY 2
), counted AS (
  SELECT coalesce(lane.queue, live.queue) AS name,
    ${runsOf('available')} AS available, ${runsOf('claimed')} AS claimed, ${runsOf('running')} AS running,
    ${runsOf('time')} AS time, ${runsOf('concurrency')} AS concurrency, ${runsOf('parents')} AS parents,
    ${runsOf('task')} AS task,
    extract(epoch FROM clock_timestamp() - min(live.oldest))::float8 * 1000 AS oldest_ms
  FROM q.lane FULL JOIN live ON live.lane = lane.id WHERE coalesce(lane.queue, live.queue) IS NOT NULL GROUP BY 1
)
SELECT coalesce(counted.name, queue.name) AS queue, coalesce(available, 0) AS available, coalesce(claimed, 0) AS claimed,
  coalesce(running, 0) AS running, coalesce(time, 0) AS time, coalesce(concurrency, 0) AS concurrency,
  coalesce(parents, 0) AS parents, coalesce(task, 0) AS task, oldest_ms AS "oldestAvailableMs", queue.paused_at IS NOT NULL AS paused,
  queue.paused_by AS "pausedBy", queue.paused_at AS "pausedAt"
FROM counted FULL JOIN q.queue ON queue.name = counted.name
ORDER BY 1`.execute(db)
  return rows.map(({ time, concurrency, parents, task, ...row }) => ({
    ...row,
    waiting: { time, concurrency, parents, task },
  }))
}

/** All states, ended ones too: reads the whole table, so it is for a person who asks and not for a loop. */
export async function countRunsByState(db: Db): Promise<{ status: TaskState; runs: number }[]> {
  return db
    .selectFrom('q.task_run')
    .select(['status', sql<number>`count(*)::int`.as('runs')])
    .groupBy('status')
    .orderBy('status')
    .execute()
}

function runsOf(what: string) {
  return sql<number>`coalesce(sum(live.runs) FILTER (WHERE live.what = ${what}), 0)::int`
}
