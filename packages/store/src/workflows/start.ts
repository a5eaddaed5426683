/**
 * – → RUNNING: inserts a workflow and all its steps, at once or not at all
 *
 * All problems of the plan are reported before anything is written. The ids of steps rise in the order in which they can
 * start; steps without parents can be claimed when the transaction commits. The workflow is durable or undone with the
 * transaction it is part of. As with an enqueue, a step gets a slot of its concurrency key only after the commit: an open
 * transaction of a user would block all other runs of the key.
 */
import { ExplainedError } from '@q/schema'
import { checkJson, problemsText } from '@q/schema/json'
import { checkPlan, tasksOfPlan, type StepOptions, type WorkflowPlan } from '@q/schema/workflow'
import type { Db } from '../connection/db.ts'
import { inTransaction } from '../connection/in-transaction.ts'
import { runProblems } from '../runs/check-new-runs.ts'
import type { EnqueueTaskRunsOptions } from '../runs/enqueue.ts'
import { promoteKeys } from '../runs/promote.ts'
import { propagateEnds } from './advance.ts'
import { insertWorkflow } from './insert-workflow.ts'
import { isKeyedByResult } from './key-at.ts'
import type { StartedWorkflow, WorkflowStart } from './new-workflow.ts'
import { activateSteps } from './activate-steps.ts'
import { flushWakes, newPendingWakes } from './pending-wakes.ts'

export type StartWorkflowOptions = Pick<EnqueueTaskRunsOptions, 'isInTransaction'>

export async function startWorkflow(
  db: Db,
  start: WorkflowStart,
  { isInTransaction }: StartWorkflowOptions = {},
): Promise<StartedWorkflow> {
  checkStart(start)
  const { keys, ...started } = await inTransaction(db, async (trx) => {
    const wakes = newPendingWakes()
    const { id, steps, toActivate } = await insertWorkflow(trx, start, wakes)
    await propagateEnds(trx, await activateSteps(trx, toActivate, wakes), [], wakes)
    await flushWakes(trx, { ...wakes, keys: new Set() })
    return { id, steps, keys: [...wakes.keys] }
  })
  const isCommitted = !db.isTransaction && isInTransaction?.() !== true
  // If this fails, the sweep promotes the keys later.
  if (isCommitted) await promoteKeys(db, keys).catch(() => [])
  return started
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

/** Returns the problems of all runs that the plan can create. */
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

/** A concurrency key must be known before the parents of a step have ended. */
function keyedByResults({ steps }: WorkflowPlan, tasks: WorkflowStart['tasks']): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'workflow') return keyedByResults(step.workflow, tasks)
    const { concurrency } = tasks[step.task] ?? {}
    const pointers = Object.entries(step.payload.holes).flatMap(([at, ref]) => (ref.from === 'step' ? at : []))
    if (concurrency === undefined || !isKeyedByResult(concurrency.at, pointers)) return []
    return [
      `step "${step.name}": the concurrency key of its task is at "${concurrency.at}", and the result of another step belongs there`,
    ]
  })
}
