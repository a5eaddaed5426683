/**
 * Wakes callers that wait for the end of a run, and only them: a NOTIFY in every commit would take a lock that all
 * commits share. Parts of a statement; `ends` names the part that has the ended runs, as `id` and `status`.
 *
 * A notification holds less than 8 000 bytes, and an id with its status has at most 30: 250 fit.
 */
import { sql, type RawBuilder } from 'kysely'
import { endedWakes } from '../wakes.ts'

export function notifyWaiters(ends: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`awaited AS (
  DELETE FROM q.awaited USING ${ends} AS own WHERE run_id = own.id RETURNING run_id::text AS id, own.status::text AS status
), woken AS (
  SELECT count(pg_notify(channel, payload)) FROM ${endedWakes(sql`awaited`)}
)`
}
