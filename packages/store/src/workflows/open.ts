/**
 * PENDING (parents, workflow) → what comes after its parents have let a step go
 *
 * Its condition is judged, once, before anything else: one that does not hold is SKIPPED, which is no failure. A run of a
 * task passes on to the next gate. A map makes its items, a workflow step its workflow, and both then wait for those; no
 * code executes them, so no replica can die with them. In a paused workflow all of them wait at its gate instead.
 */
import { conditionHoles, conditionSteps, holds, valueAt, type Condition, type Hole } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { RunId } from '../lease.ts'
import type { Left } from '../runs/leave.ts'
import { leaveSteps } from './advance.ts'
import { settleByInner, startInner } from './inner-workflow.ts'
import { expandMap, settleMap } from './map-items.ts'
import type { Definition, WorkflowId } from './new-workflow.ts'
import { gateColumns, leavingSkipped, msUntil, note, upstream } from './release.ts'
import type { StepKind } from './step-rows.ts'
import { stepValues } from './step-values.ts'
import type { Tidings } from './tidings.ts'

export interface ReadyStep {
  readonly id: RunId
  readonly fence: number
  readonly name: string
  readonly kind: StepKind
  readonly conditional: boolean
  readonly expanded: boolean
  readonly waitingFor: string
  readonly parallelMax: number | null
  /** As step-rows.ts wrote it. */
  readonly plan: unknown
  readonly workflowId: WorkflowId
}

export interface WorkflowFacts {
  readonly id: WorkflowId
  readonly rootId: WorkflowId
  readonly status: string
  readonly endsAs: 'FAILED' | 'CANCELLED' | null
  readonly input: unknown
  readonly definition: Definition
}

/** Those that ended at once. */
export async function openSteps(trx: Db, ids: readonly RunId[], tidings: Tidings): Promise<Left[]> {
  if (ids.length === 0) return []
  const steps = await readySteps(trx, ids)
  const workflows = await workflowFacts(trx, [...new Set(steps.map((step) => step.workflowId))])
  const refused = await refusedByCondition(trx, steps, workflows)
  const ended = await leaveSteps(
    trx,
    ['PENDING'],
    steps.filter((step) => refused.has(step.id)).map(({ id, fence }) => leavingSkipped(id, fence, upstream.condition)),
    tidings,
  )
  const rest = steps.filter((step) => !refused.has(step.id))
  const isBuiltIn = ({ kind, workflowId }: ReadyStep) =>
    (kind === 'map' || kind === 'workflow') && workflows.get(workflowId)?.status !== 'PAUSED'
  await pass(
    trx,
    rest.filter((step) => !isBuiltIn(step)).map((step) => step.id),
    tidings,
  )
  for (const step of rest.filter(isBuiltIn)) {
    const workflow = workflows.get(step.workflowId)
    if (workflow === undefined) continue
    if (step.kind === 'map')
      ended.push(...(await (step.expanded ? settleMap : expandMap)(trx, step, workflow, tidings)))
    else ended.push(...(await (step.expanded ? settleByInner : startInner)(trx, step, workflow, tidings)))
  }
  return ended
}

async function readySteps(trx: Db, ids: readonly RunId[]): Promise<readonly ReadyStep[]> {
  const { rows } = await sql<ReadyStep>`
SELECT r.id, r.fence, s.name, s.kind, s.conditional, s.expanded, r.waiting_for AS "waitingFor", s.parallel_max AS "parallelMax",
  s.plan, s.workflow_id AS "workflowId"
FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
WHERE r.id = ANY(${ids}::bigint[]) AND r.status = 'PENDING' AND r.waiting_for IN ('parents', 'workflow')
ORDER BY r.id`.execute(trx)
  return rows
}

async function workflowFacts(trx: Db, ids: readonly WorkflowId[]): Promise<ReadonlyMap<WorkflowId, WorkflowFacts>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<WorkflowFacts>`
SELECT id, coalesce(root_id, id) AS "rootId", status, ends_as AS "endsAs", input, definition FROM q.workflow
WHERE id = ANY(${ids}::bigint[])`.execute(trx)
  return new Map(rows.map((row) => [row.id, row]))
}

/** To the gate after `parents`, or after `workflow`. */
async function pass(trx: Db, ids: readonly RunId[], tidings: Tidings): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await sql<{ key: string | null; lane: number | null; due: number | null }>`
WITH passed AS (
  UPDATE q.task_run r SET waiting_on = 0, ${gateColumns}
  FROM q.workflow_step s JOIN q.workflow w ON w.id = s.workflow_id
  WHERE r.id = s.run_id AND r.id = ANY(ARRAY(SELECT id FROM q.task_run WHERE id = ANY(${ids}::bigint[]) ORDER BY id FOR NO KEY UPDATE))
    AND r.status = 'PENDING'
  RETURNING r.waiting_for, r.concurrency_key, r.status, r.lane, r.due_at
)
SELECT CASE WHEN waiting_for = 'concurrency' THEN concurrency_key END AS key, CASE WHEN status = 'AVAILABLE' THEN lane END AS lane,
  ${msUntil(sql`due_at`)} AS due
FROM passed`.execute(trx)
  note(rows, tidings)
}

/** One that has been judged before it was held back is not judged again. */
async function refusedByCondition(
  trx: Db,
  steps: readonly ReadyStep[],
  workflows: ReadonlyMap<WorkflowId, WorkflowFacts>,
): Promise<ReadonlySet<RunId>> {
  const judged = steps.filter((step) => step.conditional && !step.expanded && step.waitingFor === 'parents')
  const asks = judged.flatMap(({ plan, workflowId }) => {
    const { when } = plan as { when: Condition }
    const values = conditionHoles(when).flatMap((hole) =>
      hole.from === 'step' ? { workflowId, step: hole.step, at: hole.at } : [],
    )
    return [...values, ...conditionSteps(when).map((step) => ({ workflowId, step, at: '' }))]
  })
  const values = await stepValues(trx, asks)
  const known = new Map(asks.map((ask, place) => [`${ask.workflowId} ${ask.at} ${ask.step}`, values[place]]))
  const refused = judged.filter(({ plan, workflowId }) => {
    const found = (step: string, at: string) => known.get(`${workflowId} ${at} ${step}`)
    return !holds((plan as { when: Condition }).when, {
      valueOf: (hole: Hole) => {
        if (hole.from !== 'step') return valueAt(workflows.get(workflowId)?.input, hole.at)
        const value = found(hole.step, hole.at)
        return value === undefined || value.missing ? null : (JSON.parse(value.text) as unknown)
      },
      endOf: (step) => found(step, '')?.end,
    })
  })
  return new Set(refused.map((step) => step.id))
}
