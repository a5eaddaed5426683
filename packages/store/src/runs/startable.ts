/**
 * Whether a run could start now if it held a slot of its concurrency key. The promotion and the settle use it to choose
 * the next holder, and `why` explains it: only a run that can start may hold a key, or it would block the others.
 *
 * In these fragments `lane` is a row of q.lane.
 */
import { sql, type RawBuilder } from 'kysely'
import { isAliveAsWatched, isDraining } from '../replicas/alive.ts'
import { isCapable, isKnownTask, isPaused, isWorkedOn } from './claimable.ts'

/** Whether a live replica that is not draining serves the lane. */
export const isServed: RawBuilder<boolean> = sql<boolean>`
  EXISTS (SELECT FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
    WHERE ${isKnownTask(sql.ref('n.tasks'))} AND ${isWorkedOn(sql.ref('n.queues'))} AND ${isCapable(sql.ref('n.capabilities'))}
      AND ${isAliveAsWatched} AND NOT ${isDraining})`

/**
 * 0: a replica serves the lane. 1: no replica has published its task, but a program that claims runs itself may serve it.
 * Null: it cannot start, because its queue is paused or no replica that could serve it is left.
 */
export const startRank: RawBuilder<number | null> = sql<number | null>`
  CASE WHEN ${isPaused} THEN NULL WHEN ${isServed} THEN 0
    WHEN NOT EXISTS (SELECT FROM q.task published WHERE published.name = lane.task) THEN 1 END`

/** The lanes of the runs that wait for a concurrency key, as rows: one index lookup per lane, however many runs wait. */
export function lanesWaitingFor(key: RawBuilder<string>): RawBuilder<number> {
  return sql<number>`
    WITH RECURSIVE walk AS (
      (SELECT n.lane FROM q.task_run n WHERE n.gated_key = ${key} ORDER BY n.lane LIMIT 1)
      UNION ALL
      SELECT next.lane FROM walk CROSS JOIN LATERAL (
        SELECT n.lane FROM q.task_run n WHERE n.gated_key = ${key} AND n.lane > walk.lane ORDER BY n.lane LIMIT 1) next
    ) SELECT lane FROM walk`
}
