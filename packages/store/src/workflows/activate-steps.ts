/**
 * PENDING (parents, workflow) → the next gate, once the parents have released a step
 *
 * A condition is evaluated first, once; a step whose condition is not met ends SKIPPED, which is not a failure. A run of
 * a task passes to the next gate. A map creates its items, a sub-workflow step creates its workflow, and both then wait
 * for them; no code executes these steps, so no replica can die with them. In a paused workflow all steps wait at the
 * gate `workflow` instead.
 */
import {
  conditionReferences,
  conditionSteps,
  conditionHolds,
  valueAt,
  type Condition,
  type ValueRef,
} from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { RunId } from '../lease.ts'
import type { Transitioned } from '../runs/transition.ts'
import { transitionSteps } from './transition-steps.ts'
import { settleBySubWorkflow, startSubWorkflow } from './sub-workflow.ts'
import { expandMap, settleMap } from './map-items.ts'
import { inputAndDefinition, parsed, type Definition, type WorkflowId, type Written } from './new-workflow.ts'
import { gateColumns, skipTransition, msUntil, addWakes, upstream } from './release.ts'
import type { StepKind } from './step-rows.ts'
import { stepValues } from './step-values.ts'
import type { PendingWakes } from './pending-wakes.ts'

export interface ReadyStep {
  readonly id: RunId
  readonly fence: number
  readonly name: string
  readonly kind: StepKind
  readonly conditional: boolean
  readonly expanded: boolean
  readonly waitingFor: string
  readonly parallelMax: number | null
  /** As written by step-rows.ts. */
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

/** Returns the steps that ended at once. */
export async function activateSteps(trx: Db, ids: readonly RunId[], wakes: PendingWakes): Promise<Transitioned[]> {
  if (ids.length === 0) return []
  const steps = await readySteps(trx, ids)
  const workflows = await workflowFacts(trx, [...new Set(steps.map((step) => step.workflowId))])
  const refused = await stepsWithUnmetCondition(trx, steps, workflows)
  const ended = await transitionSteps(
    trx,
    ['PENDING'],
    steps.filter((step) => refused.has(step.id)).map(({ id, fence }) => skipTransition(id, fence, upstream.condition)),
    wakes,
  )
  const rest = steps.filter((step) => !refused.has(step.id))
  const isStructural = ({ kind, workflowId }: ReadyStep) =>
    (kind === 'map' || kind === 'workflow') && workflows.get(workflowId)?.status !== 'PAUSED'
  await passToNextGate(
    trx,
    rest.filter((step) => !isStructural(step)).map((step) => step.id),
    wakes,
  )
  const ofSubWorkflows: RunId[] = []
  for (const step of rest.filter(isStructural)) {
    const workflow = workflows.get(step.workflowId)
    if (workflow === undefined) continue
    if (step.kind === 'map') ended.push(...(await (step.expanded ? settleMap : expandMap)(trx, step, workflow, wakes)))
    else if (step.expanded) ended.push(...(await settleBySubWorkflow(trx, step, wakes)))
    else ofSubWorkflows.push(...(await startSubWorkflow(trx, step, workflow, wakes)))
  }
  return [...ended, ...(await activateSteps(trx, ofSubWorkflows, wakes))]
}

async function readySteps(trx: Db, ids: readonly RunId[]): Promise<readonly ReadyStep[]> {
  const { rows } = await sql<Omit<ReadyStep, 'plan'> & { readonly plan: string | null }>`
SELECT r.id, r.fence, s.name, s.kind, s.conditional, s.expanded, r.waiting_for AS "waitingFor", s.parallel_max AS "parallelMax",
  s.plan::text AS plan, s.workflow_id AS "workflowId"
FROM q.task_run r JOIN q.workflow_step s ON s.run_id = r.id
WHERE r.id = ANY(${ids}::bigint[]) AND r.status = 'PENDING' AND r.waiting_for IN ('parents', 'workflow')
ORDER BY r.id`.execute(trx)
  return rows.map((row) => ({ ...row, plan: JSON.parse(row.plan ?? 'null') as unknown }))
}

async function workflowFacts(trx: Db, ids: readonly WorkflowId[]): Promise<ReadonlyMap<WorkflowId, WorkflowFacts>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Written<WorkflowFacts>>`
SELECT id, coalesce(root_id, id) AS "rootId", status, ends_as AS "endsAs", ${inputAndDefinition} FROM q.workflow
WHERE id = ANY(${ids}::bigint[])`.execute(trx)
  return new Map(rows.map((row) => [row.id, parsed(row)]))
}

/** Moves runs past the gate `parents` or `workflow`. */
async function passToNextGate(trx: Db, ids: readonly RunId[], wakes: PendingWakes): Promise<void> {
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
  addWakes(rows, wakes)
}

/** A condition that was evaluated before the step was held is not evaluated again. */
async function stepsWithUnmetCondition(
  trx: Db,
  steps: readonly ReadyStep[],
  workflows: ReadonlyMap<WorkflowId, WorkflowFacts>,
): Promise<ReadonlySet<RunId>> {
  const judged = steps.filter((step) => step.conditional && !step.expanded && step.waitingFor === 'parents')
  const requests = judged.flatMap(({ plan, workflowId }) => {
    const { when } = plan as { when: Condition }
    const values = conditionReferences(when).flatMap((ref) =>
      ref.from === 'step' ? { workflowId, step: ref.step, at: ref.at } : [],
    )
    return [...values, ...conditionSteps(when).map((step) => ({ workflowId, step, at: '' }))]
  })
  const values = await stepValues(trx, requests)
  const known = new Map(requests.map((ask, index) => [keyOf(ask.workflowId, ask.step, ask.at), values[index]]))
  const refused = judged.filter(({ plan, workflowId }) => {
    const found = (step: string, at: string) => known.get(keyOf(workflowId, step, at))
    return !conditionHolds((plan as { when: Condition }).when, {
      valueOf: (ref: ValueRef) => {
        if (ref.from !== 'step') return valueAt(workflows.get(workflowId)?.input, ref.at)
        const value = found(ref.step, ref.at)
        return value === undefined || value.missing ? null : (JSON.parse(value.text) as unknown)
      },
      endOf: (step) => found(step, '')?.end,
    })
  })
  return new Set(refused.map((step) => step.id))
}

/** No name of a step has a line break. */
function keyOf(workflowId: WorkflowId, step: string, at: string): string {
  return `${workflowId}\n${step}\n${at}`
}
