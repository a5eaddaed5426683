/**
 * A map: one run of its task per element of a list
 *
 * When its parents release it, the map creates its items and waits for them as for parents, whatever their outcome; then
 * it ends. Its result is the list of the items' results, read where it is needed (step-values.ts); the stored result only
 * has the counts. An empty list succeeds at once. With `parallel` only that many items are open at a time; each item that
 * ends releases the next one.
 */
import { planLimits, type ValueRef, type StepOptions, type Template, valueAt } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transitioned } from '../runs/transition.ts'
import { endStructuralSteps } from './structural-steps.ts'
import { insertEdges, insertSteps } from './insert-steps.ts'
import type { ReadyStep, WorkflowFacts } from './activate-steps.ts'
import { gateColumns, msUntil, addWakes } from './release.ts'
import { laneOf, runOf, type StepRow } from './step-rows.ts'
import { stepValues } from './step-values.ts'
import type { PendingWakes } from './pending-wakes.ts'

interface MapPlan {
  readonly task: string
  readonly payload: Template
  readonly over: ValueRef
  readonly onItemError: 'fail' | 'collect'
  readonly options: StepOptions
}

export async function expandMap(
  trx: Db,
  step: ReadyStep,
  workflow: WorkflowFacts,
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  const list = await listOf(trx, step, workflow)
  if ('problem' in list) {
    const result = JSON.stringify({ code: 'INVALID_PAYLOAD', detail: list.problem })
    return endStructuralSteps(trx, [{ id: step.id, goal: 'FAILED', result }], wakes)
  }
  const { items } = list
  await markExpanded(trx, step, items.length)
  if (items.length === 0) return endStructuralSteps(trx, [success(step.id, 0, 0)], wakes)
  const rows = items.map((value, index) => itemRow(step, value, index, workflow))
  const first = step.parallelMax ?? items.length
  const ids = await insertSteps(
    trx,
    workflow.id,
    rows.map((row, index) => ({ row, opens: index < first, waitingOn: index < first ? 0 : 1 })),
    wakes,
  )
  await insertEdges(
    trx,
    ids.map((parent) => ({ parent, child: step.id })),
  )
  return []
}

async function listOf(
  trx: Db,
  { plan }: ReadyStep,
  workflow: WorkflowFacts,
): Promise<{ readonly items: readonly unknown[] } | { readonly problem: string }> {
  const { over } = plan as MapPlan
  let list: unknown
  if (over.from === 'step') {
    const [value] = await stepValues(trx, [{ workflowId: workflow.id, step: over.step, at: over.at }])
    list = value === undefined ? undefined : (JSON.parse(value.text) as unknown)
  } else list = valueAt(workflow.input, over.at)
  if (!Array.isArray(list)) return { problem: 'The value to map over is not a list.' }
  const items: readonly unknown[] = list
  if (items.length > planLimits.stepsMax) {
    return {
      problem: `The list it maps over has ${items.length} elements; at most ${planLimits.stepsMax} are allowed.`,
    }
  }
  return { items }
}

async function markExpanded(trx: Db, { id, parallelMax }: ReadyStep, items: number): Promise<void> {
  await sql`UPDATE q.workflow_step SET expanded = true, next_item = ${Math.min(parallelMax ?? items, items)} WHERE run_id = ${id}`.execute(
    trx,
  )
  // The step has begun, so its deadline to begin no longer applies.
  await sql`UPDATE q.task_run SET waiting_for = 'parents', waiting_on = ${items}, expires_at = NULL WHERE id = ${id}`.execute(
    trx,
  )
  await sql`UPDATE q.workflow SET open_steps = open_steps + ${items} WHERE id = (SELECT workflow_id FROM q.task_run WHERE id = ${id})`.execute(
    trx,
  )
}

function itemRow(step: ReadyStep, value: unknown, index: number, { input, definition }: WorkflowFacts): StepRow {
  const { task, payload, options } = step.plan as MapPlan
  const { tasks } = definition
  return {
    name: `${step.name}[${index}]`,
    kind: 'item',
    task,
    lane: laneOf(task, { tasks }),
    needs: 0,
    tolerates: 0,
    allowsFailed: false,
    conditional: false,
    itemOf: step.id,
    itemIndex: index,
    ...runOf(task, payload, options, { input, tasks }, { value }),
  }
}

export async function settleMap(
  trx: Db,
  step: ReadyStep,
  workflow: WorkflowFacts,
  wakes: PendingWakes,
): Promise<Transitioned[]> {
  const { rows } = await sql<{ items: number; open: number; failed: number; first: string | null }>`
SELECT count(*)::int AS items, count(*) FILTER (WHERE r.finished_at IS NULL)::int AS open, count(*) FILTER (WHERE r.status <> 'SUCCEEDED')::int AS failed,
  (array_agg(s.name || ': ' || coalesce(r.result ->> 'detail', r.status::text) ORDER BY s.item_index) FILTER (WHERE r.status <> 'SUCCEEDED'))[1] AS first
FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id WHERE s.item_of = ${step.id}`.execute(trx)
  const { items = 0, open = 0, failed = 0, first = '' } = rows[0] ?? {}
  if (open > 0) return waitAgain(trx, step.id, open)
  if (failed === 0 || (workflow.endsAs === null && (step.plan as MapPlan).onItemError === 'collect')) {
    return endStructuralSteps(trx, [success(step.id, items, failed)], wakes)
  }
  const result = {
    code: workflow.endsAs === null ? 'UPSTREAM_FAILED' : 'TASK_CANCELLED',
    detail: `${failed} of ${items} items did not succeed. The first: ${first}`,
  }
  const goal = workflow.endsAs === null ? 'FAILED' : 'CANCELLED'
  return endStructuralSteps(trx, [{ id: step.id, goal, result: JSON.stringify(result) }], wakes)
}

function success(id: RunId, items: number, failed: number): Parameters<typeof endStructuralSteps>[1][number] {
  return { id, goal: 'SUCCEEDED', result: JSON.stringify({ items, failed }) }
}

/** Waits again for items, or a sub-workflow, that were retried while the step was held. */
export async function waitAgain(trx: Db, id: RunId, open: number): Promise<Transitioned[]> {
  await sql`UPDATE q.task_run SET waiting_for = 'parents', waiting_on = ${open} WHERE id = ${id}`.execute(trx)
  return []
}

/**
 * Releases as many items as have ended; if an item ended that had never been released, as many as there is room for.
 * `maps` names further maps to check.
 */
export async function releaseNextItems(
  trx: Db,
  ended: readonly Transitioned[],
  wakes: PendingWakes,
  maps: readonly RunId[] = [],
): Promise<void> {
  if (ended.length + maps.length === 0) return
  // Written in SQL: it counts the capacity of many maps and fills each at once.
  const { rows } = await sql<{ key: string | null; lane: number | null; due: number | null }>`
WITH capacity AS MATERIALIZED (
  SELECT m.run_id AS map, m.next_item, CASE WHEN bool_and(coalesce(g.counted, false)) THEN count(*)
    ELSE m.parallel_max - (SELECT count(*) FROM q.workflow_step i JOIN q.task_run r ON r.id = i.run_id
      WHERE i.item_of = m.run_id AND r.finished_at IS NULL AND r.waiting_for IS DISTINCT FROM 'parents') END AS room
  FROM (
    SELECT s.item_of AS map, g.was <> 'PENDING' AS counted
    FROM unnest(${ended.map((run) => run.id)}::bigint[], ${ended.map((run) => run.was)}::q.task_status[]) AS g(id, was)
    JOIN q.workflow_step s ON s.run_id = g.id AND s.kind = 'item'
    UNION ALL SELECT map, false FROM unnest(${maps}::bigint[]) AS named(map)
  ) g JOIN q.workflow_step m ON m.run_id = g.map AND m.parallel_max IS NOT NULL AND m.expanded
  GROUP BY m.run_id, m.next_item, m.parallel_max
), chosen AS MATERIALIZED (
  SELECT capacity.map, next.id, next.item_index FROM capacity CROSS JOIN LATERAL (
    SELECT r.id, i.item_index FROM q.workflow_step i JOIN q.task_run r ON r.id = i.run_id
    WHERE i.item_of = capacity.map AND i.item_index >= capacity.next_item AND r.status = 'PENDING' AND r.waiting_for = 'parents'
    ORDER BY i.item_index LIMIT greatest(0, capacity.room)) next
), moved AS (
  UPDATE q.workflow_step m SET next_item = last.item_index + 1
  FROM (SELECT map, max(item_index) AS item_index FROM chosen GROUP BY map) last WHERE m.run_id = last.map
), passed AS (
  UPDATE q.task_run r SET waiting_on = 0, ${gateColumns}
  FROM chosen JOIN q.workflow_step s ON s.run_id = chosen.id JOIN q.workflow w ON w.id = s.workflow_id
  WHERE r.id = chosen.id AND r.status = 'PENDING'
  RETURNING r.waiting_for, r.concurrency_key, r.status, r.lane, r.due_at
)
SELECT CASE WHEN waiting_for = 'concurrency' THEN concurrency_key END AS key, CASE WHEN status = 'AVAILABLE' THEN lane END AS lane,
  ${msUntil(sql`due_at`)} AS due
FROM passed`.execute(trx)
  addWakes(rows, wakes)
}
