/**
 * Wakes for runs that become AVAILABLE, because they were enqueued, are due, got a concurrency key, or were released,
 * recovered or retried. Often only another replica serves them, and an idle replica polls rarely. The wake is sent with the
 * commit, and only if a replica is idle.
 *
 * Parts of a statement, which must read `announced` and `announced_due`: PostgreSQL does not execute a part that no other
 * part reads.
 */
import { sql, type RawBuilder } from 'kysely'
import { availableWakes, dueWakeMsMax } from '../wakes.ts'

/** `ready` names the part that has the lanes of these runs, as `lane`. */
export function wakesForReady(ready: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`announced AS (
  SELECT count(pg_notify(channel, payload)) FROM ${availableWakes(sql`(SELECT lane.queue, lane.requires FROM q.lane
    WHERE EXISTS (SELECT FROM q.idle) AND lane.id = ANY(ARRAY(SELECT DISTINCT own.lane FROM ${ready} AS own)))`)}
)`
}

/** `due` names the part that has the times until runs are due, as `in_ms`. One wake, for the earliest. */
export function wakesForDue(due: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`announced_due AS (
  SELECT count(pg_notify('q_due', earliest.in_ms)) FROM (
    SELECT greatest(0, ceil(min(own.in_ms)))::bigint::text AS in_ms FROM ${due} AS own
    WHERE EXISTS (SELECT FROM q.idle) HAVING min(own.in_ms) < ${sql.lit(dueWakeMsMax)}) earliest
)`
}
