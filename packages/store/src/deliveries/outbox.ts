/**
 * Writes the reports for destinations in the statement that ends the runs: a report exists if and only if the end does.
 * One row per destination, run and epoch. Part of a statement; `ends` names the CTE with the ended runs, as `id`, `epoch`,
 * `task` and `status`.
 */
import { sql, type RawBuilder } from 'kysely'

export function outboxRowsForEnds(ends: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`owed AS (
  INSERT INTO q.delivery (run_id, destination, news, subject, payload)
  SELECT e.id, d.name, 'run-ended', 'run/' || e.id || '/' || e.epoch,
    jsonb_build_object('runId', e.id::text, 'epoch', e.epoch, 'task', e.task, 'status', e.status)
  FROM q.destination d CROSS JOIN ${ends} e
  WHERE 'run-ended' = ANY(d.news) AND (d.tasks = '{}' OR e.task = ANY(d.tasks))
  ON CONFLICT (destination, subject) DO NOTHING
)`
}
