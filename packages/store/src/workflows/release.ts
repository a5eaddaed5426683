/**
 * PENDING (parents) → the next gate, or SKIPPED: what the end of a step does to the steps that wait for it
 *
 * In the transaction in which the parents end, so nothing can end without its dependents knowing. Each child is locked,
 * in the order of ids, together with its account of parents: how many must still succeed is `waiting_on`, how many may
 * still end otherwise is `tolerates`. All, one and a quorum are the same rule with other numbers. A child that has
 * passed the gate, or was skipped, does not care for parents that end later.
 *
 * Who cannot run any more is only named here: it leaves like every other run (leave.ts), with dependents of its own.
 */
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import type { Leaving, Left } from '../runs/leave.ts'

interface ReleasedRow {
  readonly id: RunId
  readonly fence: number
  readonly skippedBy: 'FAILED' | 'SKIPPED' | null
  /** The concurrency key it now waits for. */
  readonly key: string | null
}

export interface Released {
  readonly skipped: readonly Leaving[]
  /** Concurrency keys that runs came to wait for. */
  readonly keys: readonly string[]
}

export async function releaseDependents(trx: Db, ended: readonly Left[]): Promise<Released> {
  if (ended.length === 0) return { skipped: [], keys: [] }
  // A whole statement by hand: two tables that are locked and counted together.
  const { rows } = await sql<ReleasedRow>`
WITH parents AS MATERIALIZED (
  SELECT e.child_id, count(*) AS ended, count(*) FILTER (WHERE p.status = 'SUCCEEDED') AS succeeded,
    bool_or(p.status <> 'SUCCEEDED' AND p.status <> 'SKIPPED') AS failed
  FROM unnest(${ended.map((run) => run.id)}::bigint[], ${ended.map((run) => run.status)}::q.task_status[]) AS p(id, status)
  JOIN q.workflow_edge e ON e.parent_id = p.id GROUP BY e.child_id
), waiting AS MATERIALIZED (
  SELECT c.id, c.fence, c.waiting_on, s.tolerates, parents.failed,
    CASE WHEN s.allows_failed THEN parents.ended ELSE parents.succeeded END AS good, parents.ended
  FROM parents JOIN q.task_run c ON c.id = parents.child_id JOIN q.workflow_step s ON s.run_id = c.id
  WHERE c.status = 'PENDING' AND c.waiting_for = 'parents'
  ORDER BY c.id FOR NO KEY UPDATE OF c, s
), counted AS MATERIALIZED (
  SELECT id, fence, failed, greatest(0, waiting_on - good) AS waiting_on, tolerates - (ended - good) AS tolerates FROM waiting
), accounts AS (
  UPDATE q.workflow_step s SET tolerates = counted.tolerates FROM counted WHERE s.run_id = counted.id
), moved AS (
  UPDATE q.task_run r SET
    waiting_on = counted.waiting_on,
    waiting_for = CASE WHEN counted.waiting_on > 0 THEN 'parents' WHEN r.run_at > clock_timestamp() THEN 'time'
      WHEN r.concurrency_key IS NOT NULL THEN 'concurrency' END,
    status = CASE WHEN counted.waiting_on > 0 OR r.run_at > clock_timestamp() OR r.concurrency_key IS NOT NULL
      THEN 'PENDING' ELSE 'AVAILABLE' END::q.task_status,
    updated_at = clock_timestamp()
  FROM counted WHERE r.id = counted.id
  RETURNING r.id, r.fence, counted.waiting_on, counted.tolerates, counted.failed, r.waiting_for, r.concurrency_key
)
SELECT id, fence, CASE WHEN waiting_for = 'concurrency' THEN concurrency_key END AS key,
  CASE WHEN waiting_on > 0 AND tolerates < 0 THEN CASE WHEN failed THEN 'FAILED' ELSE 'SKIPPED' END END AS "skippedBy"
FROM moved`.execute(trx)
  return {
    skipped: rows.flatMap((row) => (row.skippedBy === null ? [] : skipping(row, row.skippedBy))),
    keys: [...new Set(rows.flatMap((row) => row.key ?? []))],
  }
}

function skipping({ id, fence }: ReleasedRow, because: 'FAILED' | 'SKIPPED'): Leaving {
  const reason =
    because === 'FAILED'
      ? { code: 'UPSTREAM_FAILED', detail: 'A step it needs failed.' }
      : { code: 'UPSTREAM_SKIPPED', detail: 'A step it needs was skipped.' }
  return { runId: id, fence, goal: 'SKIPPED', result: JSON.stringify(reason) }
}
