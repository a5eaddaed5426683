import { sql, type RawBuilder } from 'kysely'

/**
 * Whether a run `r` with its step `s` is an error of its workflow: it did not succeed, and no dependent tolerates that.
 * Evaluated after its dependents have been skipped. Items are judged by their map, and compensations never count.
 */
export const isError: RawBuilder<boolean> = sql<boolean>`(
  r.status IN ('FAILED', 'CANCELLED', 'EXPIRED') AND s.kind IN ('task', 'map', 'workflow')
  AND (NOT EXISTS (SELECT FROM q.workflow_edge e WHERE e.parent_id = r.id)
    OR EXISTS (SELECT FROM q.workflow_edge e JOIN q.task_run c ON c.id = e.child_id
      WHERE e.parent_id = r.id AND c.status = 'SKIPPED' AND c.result ->> 'code' IN ('UPSTREAM_FAILED', 'UPSTREAM_SKIPPED'))))`
