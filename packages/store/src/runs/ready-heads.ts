/**
 * What there is to claim: which lanes, priorities and groups have runs that are ready, of those this replica may run.
 *
 * A loose scan of the ready index: it jumps from one (priority, group) of a lane to the next, so a million runs of one
 * group cost as much as one. Read without a lock; what is true of it when the claim comes is the claim's business.
 */
import { sql, type CompiledQuery } from 'kysely'
import { prepared } from '../prepared.ts'
import { isCapable, isKnownTask, isPaused, isReady, isWorkedOn } from './claimable.ts'
import type { ReadyHead } from './fair-shares.ts'

export interface HeadsQuestion {
  readonly tasks: readonly string[]
  /** None: all. */
  readonly queues: readonly string[]
  readonly capabilities: readonly string[]
}

/** The oldest first. */
export function readyHeadsStatement(question: HeadsQuestion): CompiledQuery<ReadyHead> {
  return readyHeads(question)
}

// A whole statement by hand: recursive and LATERAL.
const readyHeads = prepared<HeadsQuestion, ReadyHead>('ready-heads', ({ tasks, queues, capabilities }) => {
  const texts = (values: typeof tasks) => sql<readonly string[]>`${values}::text[]`
  return sql<ReadyHead>`
WITH lanes AS MATERIALIZED (
  SELECT lane.id, lane.queue, lane.task FROM q.lane
  WHERE ${isKnownTask(texts(tasks))} AND ${isCapable(texts(capabilities))} AND ${isWorkedOn(texts(queues))} AND NOT ${isPaused}
)
SELECT lanes.id AS lane, lanes.task, lanes.queue, head.priority, head.grp AS "group", coalesce(share.weight, 1) AS weight
FROM lanes CROSS JOIN LATERAL (
  WITH RECURSIVE head AS (
    (SELECT r.priority, r.grp, r.run_at, r.id FROM q.task_run r
     WHERE ${isReady} AND r.lane = lanes.id
     ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1)
    UNION ALL
    SELECT next.* FROM head CROSS JOIN LATERAL (
      SELECT r.priority, r.grp, r.run_at, r.id FROM q.task_run r
      WHERE ${isReady} AND r.lane = lanes.id AND (r.priority, r.grp) > (head.priority, head.grp)
      ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1) next
  ) SELECT * FROM head) head
LEFT JOIN q.run_group share ON share.queue = lanes.queue AND share.grp = head.grp
ORDER BY head.priority, head.run_at, head.id`
})
