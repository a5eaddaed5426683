/**
 * From a workflow and its input to durable steps: what is known about its tasks is found, what can be checked is
 * checked, and all of it is written at once, or nothing.
 *
 * A payload that needs a result is checked by the replica, when the result is there; the others are checked here.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { fillSome, tasksOfPlan, valueAt, type WorkflowPlan } from '@q/schema/workflow'
import { noLane, startWorkflow, type StartedWorkflow, type StepTask, type Store } from '@q/store'
import { explained, type Explain } from '../explain.ts'
import { requireFit } from '../payload-check.ts'
import type { Destination, Published } from '../published.ts'
import { storeIn, type TransactionHandle } from '../transaction.ts'

export interface StartDeps {
  readonly store: Store
  readonly published: Published
  readonly explain: Explain
}

export type Start = (plan: WorkflowPlan, input: unknown, tx: TransactionHandle | undefined) => Promise<StartedWorkflow>

export function createStart({ store, published, explain }: StartDeps): Start {
  const start: Start = async (plan, input, tx) => {
    const db = tx === undefined ? undefined : storeIn(tx)
    const found = new Map<string, Destination>()
    for (const task of tasksOfPlan(plan.steps)) found.set(task, await published.find(task, db))
    await requireFits(plan, input, found)
    const tasks = Object.fromEntries([...found].map(([task, destination]) => [task, stepTask(task, destination)]))
    const asked = { plan, input, tasks }
    // Idle replicas are woken by the commit, here as in the caller's transaction.
    return db === undefined ? store.startWorkflow(asked) : startWorkflow(db, asked)
  }
  return (plan, input, tx) => explained(start(plan, input, tx), explain, tx)
}

function stepTask(task: string, { lane, options }: Destination): StepTask {
  const { priority, retry, onCrash, concurrency } = options
  if (lane === undefined) return { lane: noLane }
  return {
    lane,
    ...(priority === undefined ? {} : { priority }),
    ...(retry === undefined ? {} : { maxAttempts: retry.attempts }),
    ...(onCrash === undefined || onCrash === null ? {} : { onCrash }),
    ...(concurrency === undefined || concurrency === null
      ? {}
      : { concurrency: { scope: concurrency.shared ?? task, at: concurrency.key } }),
  }
}

async function requireFits(plan: WorkflowPlan, input: unknown, found: ReadonlyMap<string, Destination>): Promise<void> {
  for (const step of plan.steps) {
    if (step.kind !== 'task') continue
    const { value, holes } = fillSome(step.payload, (hole) =>
      hole.from === 'input' ? { value: valueAt(input, hole.at) ?? null } : undefined,
    )
    if (Object.keys(holes).length > 0) continue
    await requireFit(step.task, value, found.get(step.task)?.check).catch(named(step.name))
  }
}

function named(step: string): (error: unknown) => never {
  return (error) => {
    if (!isExplained(error)) throw error
    const { code, message: what, why, fix } = error
    throw new ExplainedError({ code, what, why: `step ${JSON.stringify(step)}: ${why}`, fix, cause: error })
  }
}
