/**
 * Wakes for runs that become AVAILABLE without an enqueue, because they are due, got a concurrency key, or were released,
 * recovered or retried. Often only another replica serves them, and an idle replica polls rarely. The wake is sent with the
 * commit, and only if a replica is idle.
 *
 * A part of a statement. `ready` names the part that has the lanes of these runs, as `lane`. The statement must read
 * `announced`: PostgreSQL does not execute a part that no other part reads.
 */
import { sql, type RawBuilder } from 'kysely'

export function wakesForReady(ready: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`announced AS (
  SELECT count(pg_notify('q_ready', queues.queue)) FROM (
    SELECT DISTINCT lane.queue FROM q.lane
    WHERE EXISTS (SELECT FROM q.idle) AND lane.id = ANY(ARRAY(SELECT DISTINCT own.lane FROM ${ready} AS own))) queues
)`
}
