/**
 * Computes the counts of steps that wait for parents again, from the edges and the states of the parents. Returns the
 * steps that can start now and those that can no longer start.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transition } from '../runs/transition.ts'
import type { WorkflowId } from './new-workflow.ts'
import { skipTransition, upstream } from './release.ts'

export interface RecountResult {
  /** Steps whose counts were wrong. */
  readonly corrected: readonly RunId[]
  readonly ready: readonly RunId[]
  readonly skipped: readonly Transition[]
}

interface Account {
  readonly id: RunId
  readonly fence: number
  readonly waitingOn: number
  readonly tolerates: number
  readonly failed: boolean
  readonly wrong: boolean
}

/**
 * Computes the counts of steps at the gate `parents`: rows of `id`, `waiting_on`, `tolerates`, `failed` and the stored
 * values. Items that wait for room in their map are excluded: the map releases them.
 */
export function accountsOf(workflows: RawBuilder<unknown>): RawBuilder<unknown> {
  // Grouped instead of a subquery per child: a step may have as many parents, or children, as there are steps.
  return sql`
  SELECT c.id, c.fence, c.workflow_id, c.waiting_on AS stored_on, s.tolerates AS stored_tolerates, s.expanded, s.kind,
    CASE WHEN s.expanded AND s.kind = 'workflow' THEN (SELECT count(*) FROM (
          SELECT w.finished_at FROM q.workflow w WHERE w.parent_run_id = c.id ORDER BY w.id DESC LIMIT 1) latest WHERE latest.finished_at IS NULL)
      WHEN s.expanded THEN (SELECT count(*) FROM q.workflow_step i JOIN q.task_run item ON item.id = i.run_id
        WHERE i.item_of = c.id AND item.finished_at IS NULL)
      ELSE greatest(0, s.needs - count(e.parent_id) FILTER (WHERE ${isGood})) END::int AS waiting_on,
    CASE WHEN s.expanded THEN s.tolerates
      ELSE count(e.parent_id) - s.needs - count(e.parent_id) FILTER (WHERE ${isOver} AND NOT ${isGood}) END::int AS tolerates,
    coalesce(bool_or(p.status IN ('FAILED', 'CANCELLED', 'EXPIRED')), false) AS failed
  FROM q.task_run c JOIN q.workflow_step s ON s.run_id = c.id
  LEFT JOIN q.workflow_edge e ON e.child_id = c.id
  LEFT JOIN q.task_run p ON p.id = e.parent_id
  WHERE c.workflow_id = ANY(${workflows}) AND c.status = 'PENDING' AND c.waiting_for = 'parents' AND s.kind <> 'item'
  GROUP BY c.id, s.run_id`
}

/** About a parent `p` and the step `s` that waits for it. A parent that no longer exists has ended without success. */
const isOver = sql<boolean>`(p.id IS NULL OR p.finished_at IS NOT NULL)`
const isGood = sql<boolean>`coalesce(p.status = 'SUCCEEDED' OR s.allows_failed AND ${isOver}, s.allows_failed)`

/** The caller has locked the workflows. */
export async function recount(trx: Db, ids: readonly WorkflowId[]): Promise<RecountResult> {
  const { rows } = await sql<Account>`
WITH accounts AS MATERIALIZED (${accountsOf(sql`${ids}::bigint[]`)}), runs AS (
  UPDATE q.task_run r SET waiting_on = accounts.waiting_on, updated_at = clock_timestamp()
  FROM accounts WHERE r.id = accounts.id AND accounts.waiting_on <> accounts.stored_on
), steps AS (
  UPDATE q.workflow_step s SET tolerates = accounts.tolerates
  FROM accounts WHERE s.run_id = accounts.id AND accounts.tolerates <> accounts.stored_tolerates
)
SELECT id, fence, waiting_on AS "waitingOn", tolerates, failed,
  waiting_on <> stored_on OR tolerates <> stored_tolerates AS wrong FROM accounts ORDER BY id`.execute(trx)
  return {
    corrected: rows.filter((row) => row.wrong).map((row) => row.id),
    ready: rows.filter((row) => row.waitingOn === 0).map((row) => row.id),
    skipped: rows
      .filter((row) => row.waitingOn > 0 && row.tolerates < 0)
      .map(({ id, fence, failed }) => skipTransition(id, fence, failed ? upstream.failed : upstream.skipped)),
  }
}

/** Counts the open steps again and returns the workflows whose count was wrong. */
export async function recountOpen(trx: Db, ids: readonly WorkflowId[]): Promise<WorkflowId[]> {
  const { rows } = await sql<{ id: WorkflowId }>`
UPDATE q.workflow w SET open_steps = counted.open, updated_at = clock_timestamp()
FROM (SELECT w2.id, (SELECT count(*) FROM q.task_run r WHERE r.workflow_id = w2.id AND r.finished_at IS NULL)::int AS open
  FROM q.workflow w2 WHERE w2.id = ANY(${ids}::bigint[])) counted
WHERE w.id = counted.id AND w.open_steps <> counted.open RETURNING w.id`.execute(trx)
  return rows.map((row) => row.id)
}
