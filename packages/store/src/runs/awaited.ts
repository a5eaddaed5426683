/**
 * Those who await the end of a run are woken, and only they: a NOTIFY in every commit would take a lock that all
 * commits share. Parts of a statement; `ends` names the part that has the runs that ended, as `id`.
 */
import { sql, type RawBuilder } from 'kysely'

export function wakesForEnds(ends: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`awaited AS (
  DELETE FROM q.awaited WHERE run_id = ANY(ARRAY(SELECT id FROM ${ends})) RETURNING run_id
), woken AS (
  SELECT pg_notify('q_ended', string_agg(run_id::text, ',')) FROM awaited HAVING count(*) > 0
)`
}
