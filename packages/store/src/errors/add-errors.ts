/**
 * Parts of the flush that add to groups of errors and to their counts per hour. They read `flushed`, which is empty if this
 * flush was committed before, and lock groups in the order of their fingerprints. A group is dated by the attempts that
 * ended with its error: a flush follows them by seconds, after an outage by minutes.
 */
import { sql, type RawBuilder } from 'kysely'

/** The most tasks and versions that a group stores, latest first. */
const namesMax = 20

/** `errors`: JSON text, a list of `ErrorCount`. */
export function addErrors(errors: RawBuilder<string>): RawBuilder<unknown> {
  return sql`seen AS MATERIALIZED (
  SELECT e.*, flushed.at, ${ended(sql`ASC`)} AS first_at, ${ended(sql`DESC`)} AS last_at
  FROM flushed CROSS JOIN jsonb_to_recordset(${errors}::jsonb) AS e(fingerprint text, code text, name text,
    message text, place text, seen int, "lastRunId" bigint, tasks text[], version text)
), groups AS (
  INSERT INTO q.error_group AS g
    (fingerprint, first_seen, last_seen, seen, last_run_id, code, name, message, place, tasks, versions)
  SELECT fingerprint, coalesce(first_at, at), coalesce(last_at, at), seen, "lastRunId", code, name, message, place, tasks, ARRAY[version]
  FROM seen ORDER BY fingerprint
  ON CONFLICT (fingerprint) DO UPDATE SET last_seen = greatest(g.last_seen, excluded.last_seen), seen = g.seen + excluded.seen,
    last_run_id = excluded.last_run_id, code = excluded.code, name = excluded.name, message = excluded.message,
    place = excluded.place, tasks = ${latest(sql`excluded.tasks || g.tasks`)}, versions = ${latest(sql`excluded.versions || g.versions`)}
), hours AS (
  INSERT INTO q.error_tally AS t (fingerprint, bucket_at, seen)
  SELECT fingerprint, date_bin('1 hour', at, 'epoch'), seen FROM seen ORDER BY fingerprint
  ON CONFLICT (fingerprint, bucket_at) DO UPDATE SET seen = t.seen + excluded.seen
)`
}

/** The end of the first or the last attempt with this error; null: none is stored. */
function ended(direction: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(SELECT a.ended_at FROM q.task_attempt a WHERE a.fingerprint = e.fingerprint ORDER BY a.ended_at ${direction} LIMIT 1)`
}

function latest(names: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`ARRAY(SELECT name FROM unnest(${names}) WITH ORDINALITY AS each(name, place) GROUP BY name
    ORDER BY min(place) LIMIT ${sql.lit(namesMax)})`
}
