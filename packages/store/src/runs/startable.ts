/**
 * Whether a run could be started now if it had a place of its concurrency key. The promotion and the settle that hands a
 * place on ask it, and `why` explains it: only a run that can start may hold a key, or it would block the others.
 *
 * In these fragments `lane` is a row of q.lane.
 */
import { sql, type RawBuilder } from 'kysely'
import { isAlive, isDraining } from '../replicas/alive.ts'
import { isCapable, isKnownTask, isPaused, isWorkedOn } from './claimable.ts'

/** Whether a live replica that is not draining takes runs of the lane. */
export const isServed: RawBuilder<boolean> = sql<boolean>`
  EXISTS (SELECT FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
    WHERE ${isKnownTask(sql.ref('n.tasks'))} AND ${isWorkedOn(sql.ref('n.queues'))} AND ${isCapable(sql.ref('n.capabilities'))}
      AND ${isAlive} AND NOT ${isDraining})`

/**
 * 0: a replica takes it. 1: no replica has ever published its task, so only its own worker, which claims runs itself,
 * knows. Null: it cannot start, because its queue is paused or no replica that could serve it is left.
 */
export const startRank: RawBuilder<number | null> = sql<number | null>`
  CASE WHEN ${isPaused} THEN NULL WHEN ${isServed} THEN 0
    WHEN NOT EXISTS (SELECT FROM q.task published WHERE published.name = lane.task) THEN 1 END`

/** The lanes of the runs that wait for a concurrency key, as rows: a jump per lane, however many runs wait. */
export function lanesWaitingFor(key: RawBuilder<string>): RawBuilder<number> {
  return sql<number>`
    WITH RECURSIVE walk AS (
      (SELECT n.lane FROM q.task_run n WHERE n.gated_key = ${key} ORDER BY n.lane LIMIT 1)
      UNION ALL
      SELECT next.lane FROM walk CROSS JOIN LATERAL (
        SELECT n.lane FROM q.task_run n WHERE n.gated_key = ${key} AND n.lane > walk.lane ORDER BY n.lane LIMIT 1) next
    ) SELECT lane FROM walk`
}
