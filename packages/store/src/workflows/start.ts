/**
 * – → RUNNING: a workflow and all its steps, at once or not at all
 *
 * Everything that can be said against the plan is said before anything is written. Steps are written with ids in the order
 * in which they can begin; those without parents can be claimed when the transaction commits. As durable, or as undone, as
 * the transaction it is part of.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, problemsText } from '@q/schema/json'
import { checkPlan, parentsOf, tasksOfPlan, type StepOptions, type WorkflowPlan } from '@q/schema/workflow'
import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { inTransaction } from '../in-transaction.ts'
import type { RunId } from '../lease.ts'
import { runProblems } from '../runs/check-new-runs.ts'
import type { Left } from '../runs/leave.ts'
import { follow } from './advance.ts'
import { insertEdges, insertSteps } from './insert-steps.ts'
import { isKeyedByResult } from './key-at.ts'
import type { Definition, StartedWorkflow, WorkflowId, WorkflowStart } from './new-workflow.ts'
import { openSteps } from './open.ts'
import { rowOf } from './step-rows.ts'
import { newTidings, tell, type Tidings } from './tidings.ts'

export function startWorkflow(db: Db, start: WorkflowStart): Promise<StartedWorkflow> {
  checkStart(start)
  return inTransaction(db, async (trx) => {
    const tidings = newTidings()
    const { id, steps, ended } = await insertWorkflow(trx, start, tidings)
    await follow(trx, ended, [], tidings)
    await tell(trx, tidings)
    return { id, steps }
  })
}

function checkStart({ plan, input, tasks }: WorkflowStart): void {
  const checked = checkPlan(plan)
  const json = checkJson(input ?? null)
  const problems = [
    ...(checked.ok ? [] : checked.problems),
    ...(json.ok ? [] : [`its input: ${problemsText(json.problems)}`]),
    ...tasksOfPlan(plan.steps)
      .filter((task) => !Object.hasOwn(tasks, task))
      .map((task) => `nothing was said about the task "${task}"`),
    ...(checked.ok ? [...optionProblems(plan, tasks), ...keyedByResults(plan, tasks)] : []),
  ]
  if (problems.length === 0) return
  throw new ExplainedError({
    code: 'WORKFLOW_INVALID',
    what: `The workflow "${plan.name}" cannot be started; nothing was written.`,
    why: `${problems.slice(0, 10).join('. ')}.`,
    fix: 'Correct the workflow, or its input.',
  })
}

/** Of all runs that the plan can make. */
function optionProblems({ steps }: WorkflowPlan, tasks: WorkflowStart['tasks']): string[] {
  const problemsOf = (name: string, task: string, options: StepOptions = {}) => {
    const { priority, maxAttempts, onCrash } = tasks[task] ?? {}
    const published = {
      ...(priority !== undefined && { priority }),
      ...(maxAttempts !== undefined && { maxAttempts }),
      ...(onCrash && { onCrash }),
    }
    const run = { task, payload: null, ...published, ...options }
    return runProblems(run).map((problem) => `step "${name}": ${problem}`)
  }
  return steps.flatMap((step) => {
    const undo =
      step.compensate === undefined ? [] : problemsOf(step.name, step.compensate.task, step.compensate.options)
    if (step.kind === 'workflow') return [...optionProblems(step.workflow, tasks), ...undo]
    return [...problemsOf(step.name, step.task, step.options), ...undo]
  })
}

/** Where a step waits is decided before its parents have ended. */
function keyedByResults({ steps }: WorkflowPlan, tasks: WorkflowStart['tasks']): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'workflow') return keyedByResults(step.workflow, tasks)
    const { concurrency } = tasks[step.task] ?? {}
    const holes = Object.entries(step.payload.holes).flatMap(([at, hole]) => (hole.from === 'step' ? at : []))
    if (concurrency === undefined || !isKeyedByResult(concurrency.at, holes)) return []
    return [
      `step "${step.name}": the concurrency key of its task is at "${concurrency.at}", and the result of another step belongs there`,
    ]
  })
}

interface Insertion extends WorkflowStart {
  readonly parentRunId?: RunId
  readonly rootId?: WorkflowId
}

/** `ended`: steps that were skipped at once. What follows from that is the caller's. */
export async function insertWorkflow(
  trx: Db,
  start: Insertion,
  tidings: Tidings,
): Promise<StartedWorkflow & { readonly ended: Left[] }> {
  const { plan, tasks, input } = start
  const checked = checkPlan(plan)
  if (!checked.ok) throw new Error(`A workflow that was checked is not in order: ${checked.problems.join('. ')}`)
  const id = await insertRow(trx, start)
  const steps = checked.order.map((step) => {
    const parents = parentsOf(step).length
    const row = rowOf(step, parents, { input, tasks })
    const opens = parents === 0 && step.kind === 'task' && !row.conditional
    return { row, opens, waitingOn: row.needs }
  })
  const ids = await insertSteps(trx, id, steps, tidings)
  const byName = new Map(checked.order.map((step, place) => [step.name, ids[place] as RunId]))
  const edges = checked.order.flatMap((step) =>
    parentsOf(step).map((parent) => ({ parent: byName.get(parent) as RunId, child: byName.get(step.name) as RunId })),
  )
  await insertEdges(trx, edges)
  const held = steps.flatMap(({ row, opens }, place) => (row.needs === 0 && !opens ? (ids[place] ?? []) : []))
  const ended = await openSteps(trx, held, tidings)
  return { id, steps: [...byName].map(([name, runId]) => ({ name, runId })), ended }
}

async function insertRow(trx: Db, { plan, input, tasks, parentRunId, rootId }: Insertion): Promise<WorkflowId> {
  const definition: Definition = { output: plan.output ?? null, tasks }
  const { rows } = await sql<{ id: WorkflowId }>`
INSERT INTO q.workflow (name, on_error, input, definition, open_steps, parent_run_id, root_id)
VALUES (${plan.name}, ${plan.onError ?? 'fail'}::q.on_error, ${JSON.stringify(input ?? null)}::jsonb, ${JSON.stringify(definition)}::jsonb,
  ${plan.steps.length}, ${parentRunId ?? null}, ${rootId ?? null})
RETURNING id`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('The database accepted a workflow and named none.')
  return row.id
}
