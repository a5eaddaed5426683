/**
 * Wakes callers that wait for the end of a run, and only them: a NOTIFY in every commit would take a lock that all
 * commits share. Parts of a statement; `ends` names the part that has the ended runs, as `id`.
 *
 * A notification holds less than 8 000 bytes, and an id has at most 19 digits: 350 ids fit.
 */
import { sql, type RawBuilder } from 'kysely'

export function notifyWaiters(ends: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`awaited AS (
  DELETE FROM q.awaited WHERE run_id = ANY(ARRAY(SELECT id FROM ${ends})) RETURNING run_id
), woken AS (
  SELECT count(pg_notify('q_ended', parts.ids)) FROM (
    SELECT string_agg(run_id::text, ',') AS ids
    FROM (SELECT run_id, row_number() OVER () / 350 AS part FROM awaited) numbered GROUP BY part) parts
)`
}
