/**
 * The oldest AVAILABLE run of every priority and group of a lane: a loose scan of the ready index, which jumps from one
 * group to the next. A million runs of one group cost as much as one.
 */
import { sql, type RawBuilder } from 'kysely'

export interface OldestReadyRun {
  readonly id: string
  readonly priority: number
  readonly grp: string
  readonly run_at: Date
}

/** The most groups of a lane that are read. */
const groupsMax = 10_000

/** Returns rows in the order of the index. */
export function oldestReadyOfLane(lane: RawBuilder<number>, most: number = groupsMax): RawBuilder<OldestReadyRun> {
  return sql<OldestReadyRun>`
  WITH RECURSIVE head AS (
    (SELECT r.id, r.priority, r.grp, r.run_at FROM q.task_run r
      WHERE r.ready AND r.lane = ${lane} ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1)
    UNION ALL
    SELECT next.* FROM head CROSS JOIN LATERAL (
      SELECT r.id, r.priority, r.grp, r.run_at FROM q.task_run r
      WHERE r.ready AND r.lane = ${lane} AND (r.priority, r.grp) > (head.priority, head.grp)
      ORDER BY r.priority, r.grp, r.run_at, r.id LIMIT 1) next
  ) SELECT * FROM head LIMIT ${most}::int`
}
