/** The trace context of run `r`: its own, or for a step the one with which its outermost workflow was started. */
import { sql, type RawBuilder } from 'kysely'

export const traceOfRun: RawBuilder<string | null> = sql<
  string | null
>`coalesce(r.trace, (SELECT top.definition->>'trace' FROM q.workflow own
      JOIN q.workflow top ON top.id = coalesce(own.root_id, own.id) WHERE own.id = r.workflow_id))`
