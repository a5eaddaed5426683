/**
 * PENDING (parents) → the next gate: releases the steps that wait for steps that ended
 *
 * It runs in the transaction that ends the parents, so no end is missed. Each child is locked, in the order of ids,
 * together with its counts: `waiting_on` parents must still succeed, and `tolerates` parents may still end otherwise.
 * The joins `all`, `any` and a quorum differ only in these numbers. A child that has passed the gate, or was skipped,
 * ignores parents that end later. A map that waits for its items counts only them.
 *
 * Steps that can no longer start are only returned: they end like every other run (transition.ts) and have dependents of
 * their own. Steps with a condition and structural steps are returned for activate-steps.ts.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transition, Transitioned } from '../runs/transition.ts'
import type { PendingWakes } from './pending-wakes.ts'

export interface ReleaseResult {
  readonly skipped: readonly Transition[]
  /** Steps that their parents have released. */
  readonly ready: readonly RunId[]
}

interface ReleasedRow {
  readonly id: RunId
  readonly fence: number
  readonly fate: 'upstream-failed' | 'upstream-skipped' | 'ready' | 'waits' | 'opened'
  /** The concurrency key it now waits for. */
  readonly key: string | null
  /** The lane in which it is available now. */
  readonly lane: number | null
  /** How soon it is due, if it waits for its time. */
  readonly due: number | null
}

/** About a run `r` at a gate up to `workflow`; `w` is its workflow, `s` its step. */
const isReleasedByParents = sql<boolean>`(r.waiting_for = 'parents')`
const startsLater = sql<boolean>`(${isReleasedByParents} AND s.delay_ms > 0 OR r.run_at > clock_timestamp())`
/** A delay counts from the release by the parents: a step that comes from the gate `workflow` has already waited. */
export const gateColumns: RawBuilder<unknown> = sql`
    run_at = CASE WHEN ${isReleasedByParents} AND s.delay_ms IS NOT NULL THEN clock_timestamp() + s.delay_ms * interval '1 ms' ELSE r.run_at END,
    waiting_for = CASE WHEN w.status = 'PAUSED' THEN 'workflow' WHEN r.asked IS NOT NULL THEN 'task' WHEN ${startsLater} THEN 'time'
      WHEN r.concurrency_key IS NOT NULL THEN 'concurrency' END,
    status = CASE WHEN w.status = 'PAUSED' OR r.asked IS NOT NULL OR ${startsLater} OR r.concurrency_key IS NOT NULL
      THEN 'PENDING' ELSE 'AVAILABLE' END::q.task_status,
    updated_at = clock_timestamp()`

export async function releaseDependents(
  trx: Db,
  ended: readonly Transitioned[],
  wakes: PendingWakes,
): Promise<ReleaseResult> {
  if (ended.length === 0) return { skipped: [], ready: [] }
  // Written in SQL: it locks and counts two tables together.
  const { rows } = await sql<ReleasedRow>`
WITH parents AS MATERIALIZED (
  SELECT e.child_id, count(*) AS ended, count(*) FILTER (WHERE p.status = 'SUCCEEDED') AS succeeded,
    bool_or(p.status <> 'SUCCEEDED' AND p.status <> 'SKIPPED') AS failed, count(*) FILTER (WHERE own.item_of = e.child_id) AS items
  FROM unnest(${ended.map((run) => run.id)}::bigint[], ${ended.map((run) => run.status)}::q.task_status[]) AS p(id, status)
  JOIN q.workflow_edge e ON e.parent_id = p.id JOIN q.workflow_step own ON own.run_id = p.id GROUP BY e.child_id
), waiting AS MATERIALIZED (
  SELECT c.id, c.waiting_on, s.tolerates, parents.failed, CASE WHEN s.expanded THEN parents.items ELSE parents.ended END AS ended,
    s.kind IN ('map', 'workflow') OR s.conditional AS held,
    CASE WHEN s.expanded THEN parents.items WHEN s.allows_failed THEN parents.ended ELSE parents.succeeded END AS good
  FROM parents JOIN q.task_run c ON c.id = parents.child_id JOIN q.workflow_step s ON s.run_id = c.id
  WHERE c.status = 'PENDING' AND c.waiting_for = 'parents' AND (NOT s.expanded OR parents.items > 0)
  ORDER BY c.id FOR NO KEY UPDATE OF c, s
), counted AS MATERIALIZED (
  SELECT id, held, failed, greatest(0, waiting_on - good) AS waiting_on, tolerates - (ended - good) AS tolerates FROM waiting
), accounts AS (
  UPDATE q.workflow_step s SET tolerates = counted.tolerates FROM counted
  WHERE s.run_id = counted.id AND s.tolerates <> counted.tolerates
), waits AS (
  UPDATE q.task_run r SET waiting_on = counted.waiting_on, updated_at = clock_timestamp()
  FROM counted WHERE r.id = counted.id AND (counted.waiting_on > 0 OR counted.held)
  RETURNING r.id, r.fence, CASE WHEN counted.waiting_on = 0 THEN 'ready' WHEN counted.tolerates >= 0 THEN 'waits'
    WHEN counted.failed THEN 'upstream-failed' ELSE 'upstream-skipped' END AS fate
), opened AS (
  UPDATE q.task_run r SET waiting_on = 0, ${gateColumns}
  FROM counted JOIN q.workflow_step s ON s.run_id = counted.id JOIN q.workflow w ON w.id = s.workflow_id
  WHERE r.id = counted.id AND counted.waiting_on = 0 AND NOT counted.held
  RETURNING r.id, r.fence, r.waiting_for, r.concurrency_key, r.lane, r.status, r.due_at
)
SELECT id, fence, fate, NULL AS key, NULL AS lane, NULL AS due FROM waits WHERE fate <> 'waits'
UNION ALL
SELECT id, fence, 'opened', CASE WHEN waiting_for = 'concurrency' THEN concurrency_key END,
  CASE WHEN status = 'AVAILABLE' THEN lane END, ${msUntil(sql`due_at`)} FROM opened
WHERE waiting_for = 'concurrency' OR status = 'AVAILABLE' OR due_at IS NOT NULL`.execute(trx)
  addWakes(rows, wakes)
  return {
    skipped: rows.flatMap(skipOf),
    ready: rows.filter((row) => row.fate === 'ready').map((row) => row.id),
  }
}

/** Adds the wakes for runs that passed a gate, to be sent at the end of the transaction. */
export function addWakes(rows: readonly Pick<ReleasedRow, 'key' | 'lane' | 'due'>[], wakes: PendingWakes): void {
  for (const { key, lane, due } of rows) {
    if (due !== null) wakes.dueInMs = Math.min(wakes.dueInMs, Math.max(0, due))
    if (key !== null) wakes.keys.add(key)
    if (lane !== null) wakes.lanes.add(lane)
  }
}

export function msUntil(time: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql<number | null>`extract(epoch FROM ${time} - clock_timestamp())::float8 * 1000`
}

function skipOf({ id, fence, fate }: ReleasedRow): Transition[] {
  if (fate === 'upstream-failed') return [skipTransition(id, fence, upstream.failed)]
  return fate === 'upstream-skipped' ? [skipTransition(id, fence, upstream.skipped)] : []
}

export const upstream = {
  failed: { code: 'UPSTREAM_FAILED', detail: 'A step it needs failed.' },
  skipped: { code: 'UPSTREAM_SKIPPED', detail: 'A step it needs was skipped.' },
  over: { code: 'UPSTREAM_FAILED', detail: 'Its workflow failed before it could begin.' },
  condition: { code: 'CONDITION_NOT_MET', detail: 'Its condition did not hold.' },
} as const

export function skipTransition(
  runId: RunId,
  fence: number | null,
  reason: { code: string; detail: string },
): Transition {
  return { runId, fence, goal: 'SKIPPED', result: JSON.stringify(reason) }
}
