/**
 * A look: finds what can be claimed, which are the lanes, priorities and groups that have ready runs, among those this
 * replica may execute.
 *
 * A loose scan of the ready index: it jumps from one (priority, group) of a lane to the next, so a million runs of one
 * group cost as much as one. It takes no lock; the claim itself decides what is still ready. A look is slow
 * while PostgreSQL cannot remove entries of ended runs, so it returns how long it took (claim-cursors.ts).
 */
import { sql, type CompiledQuery } from 'kysely'
import { prepared } from '../connection/prepared.ts'
import { isCapable, isKnownTask, isPaused, isReady, isWorkedOn } from './claimable.ts'
import type { LookRow } from './claim-cursors.ts'

export interface CandidateFilter {
  readonly tasks: readonly string[]
  /** Empty: all. */
  readonly queues: readonly string[]
  readonly capabilities: readonly string[]
}

/** The candidate with the oldest run comes first. */
export function candidatesStatement(filter: CandidateFilter): CompiledQuery<LookRow> {
  return candidates(filter)
}

// Written in SQL: recursive and LATERAL.
const candidates = prepared<CandidateFilter, LookRow>('claim-candidates', ({ tasks, queues, capabilities }) => {
  const texts = (values: typeof tasks) => sql<readonly string[]>`${values}::text[]`
  return sql<LookRow>`
WITH lanes AS MATERIALIZED (
  SELECT lane.id, lane.queue, lane.task FROM q.lane
  WHERE ${isKnownTask(texts(tasks))} AND ${isCapable(texts(capabilities))} AND ${isWorkedOn(texts(queues))} AND NOT ${isPaused}
)
SELECT lanes.id AS lane, lanes.task, lanes.queue, head.priority, head.grp AS "group", coalesce(share.weight, 1) AS weight,
  to_jsonb(head.run_at)#>>'{}' AS "fromRunAt", head.id AS "fromId",
  extract(epoch FROM clock_timestamp() - statement_timestamp())::float8 * 1000 AS "lookMs"
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
