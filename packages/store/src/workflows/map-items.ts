/**
 * A map: one run of its task per element of a list
 *
 * When its parents have let it go it makes the items and waits for them as for parents, whatever their end; then it ends
 * with them. Its result is the list of theirs, looked up where it is needed (step-values.ts): what is stored says how many
 * there are. An empty list succeeds at once. With `parallel` only so many items are let go; each that ends hands its place
 * to the next.
 */
import { planLimits, type Hole, type StepOptions, type Template, valueAt } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import type { Left } from '../runs/leave.ts'
import { endBuiltIns } from './built-in.ts'
import { insertEdges, insertSteps } from './insert-steps.ts'
import type { ReadyStep, WorkflowFacts } from './open.ts'
import { gateColumns, msUntil, note } from './release.ts'
import { laneOf, runOf, type StepRow } from './step-rows.ts'
import { stepValues } from './step-values.ts'
import type { Tidings } from './tidings.ts'

interface MapPlan {
  readonly task: string
  readonly payload: Template
  readonly over: Hole
  readonly onItemError: 'fail' | 'collect'
  readonly options: StepOptions
}

export async function expandMap(trx: Db, step: ReadyStep, workflow: WorkflowFacts, tidings: Tidings): Promise<Left[]> {
  const list = await listOf(trx, step, workflow)
  if ('problem' in list) {
    const result = JSON.stringify({ code: 'INVALID_PAYLOAD', detail: list.problem })
    return endBuiltIns(trx, [{ id: step.id, goal: 'FAILED', result }], tidings)
  }
  const { items } = list
  await markExpanded(trx, step, items.length)
  if (items.length === 0) return endBuiltIns(trx, [success(step.id, 0, 0)], tidings)
  const rows = items.map((value, index) => itemRow(step, value, index, workflow))
  const first = step.parallelMax ?? items.length
  const ids = await insertSteps(
    trx,
    workflow.id,
    rows.map((row, index) => ({ row, opens: index < first, waitingOn: index < first ? 0 : 1 })),
    tidings,
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
  if (!Array.isArray(list)) return { problem: 'What it maps over is not a list.' }
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
  // It has begun: a deadline for the beginning does not count any more.
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

export async function settleMap(trx: Db, step: ReadyStep, workflow: WorkflowFacts, tidings: Tidings): Promise<Left[]> {
  const { rows } = await sql<{ items: number; open: number; failed: number; first: string | null }>`
SELECT count(*)::int AS items, count(*) FILTER (WHERE r.finished_at IS NULL)::int AS open, count(*) FILTER (WHERE r.status <> 'SUCCEEDED')::int AS failed,
  (array_agg(s.name || ': ' || coalesce(r.result ->> 'detail', r.status::text) ORDER BY s.item_index) FILTER (WHERE r.status <> 'SUCCEEDED'))[1] AS first
FROM q.workflow_step s JOIN q.task_run r ON r.id = s.run_id WHERE s.item_of = ${step.id}`.execute(trx)
  const { items = 0, open = 0, failed = 0, first = '' } = rows[0] ?? {}
  if (open > 0) return waitAgain(trx, step.id, open)
  if (failed === 0 || (workflow.endsAs === null && (step.plan as MapPlan).onItemError === 'collect')) {
    return endBuiltIns(trx, [success(step.id, items, failed)], tidings)
  }
  const result = {
    code: workflow.endsAs === null ? 'UPSTREAM_FAILED' : 'TASK_CANCELLED',
    detail: `${failed} of ${items} items did not succeed. The first: ${first}`,
  }
  const goal = workflow.endsAs === null ? 'FAILED' : 'CANCELLED'
  return endBuiltIns(trx, [{ id: step.id, goal, result: JSON.stringify(result) }], tidings)
}

function success(id: RunId, items: number, failed: number): Parameters<typeof endBuiltIns>[1][number] {
  return { id, goal: 'SUCCEEDED', result: JSON.stringify({ items, failed }) }
}

/** For items, or a workflow, that were retried while the step was held back. */
export async function waitAgain(trx: Db, id: RunId, open: number): Promise<Left[]> {
  await sql`UPDATE q.task_run SET waiting_for = 'parents', waiting_on = ${open} WHERE id = ${id}`.execute(trx)
  return []
}

/**
 * As many as have ended; where one ended that had never been let go, as many as there is room for. Also for maps that are
 * named: `maps`.
 */
export async function letNextItemsGo(
  trx: Db,
  ended: readonly Left[],
  tidings: Tidings,
  maps: readonly RunId[] = [],
): Promise<void> {
  if (ended.length + maps.length === 0) return
  // A whole statement by hand: the places of many maps, each counted and filled at once.
  const { rows } = await sql<{ key: string | null; lane: number | null; due: number | null }>`
WITH places AS MATERIALIZED (
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
  SELECT places.map, next.id, next.item_index FROM places CROSS JOIN LATERAL (
    SELECT r.id, i.item_index FROM q.workflow_step i JOIN q.task_run r ON r.id = i.run_id
    WHERE i.item_of = places.map AND i.item_index >= places.next_item AND r.status = 'PENDING' AND r.waiting_for = 'parents'
    ORDER BY i.item_index LIMIT greatest(0, places.room)) next
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
  note(rows, tidings)
}
