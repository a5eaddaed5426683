/**
 * Starts a workflow: looks up its tasks, checks what can be checked, and writes all of its steps in one transaction.
 *
 * Payloads without references are checked here; the replica checks the others when the results exist.
 */
import { ExplainedError, isExplained } from '@q/schema'
import { fillSome, tasksOfPlan, valueAt, type WorkflowPlan } from '@q/schema/workflow'
import { noLane, startWorkflow, type StartedWorkflow, type StepTask, type Store } from '@q/store'
import { isTracing, traceEnqueue } from '@q/task/tracing'
import { explained, type Explain } from '../explain.ts'
import { assertPayload } from '../payload-check.ts'
import type { TaskRoute, TaskRouting } from '../task-routing.ts'
import { storeIn, type TransactionHandle } from '../transaction.ts'

export interface StartDeps {
  readonly store: Store
  readonly routing: TaskRouting
  readonly explain: Explain
  /** For a client of the caller: whether a transaction is open on it. */
  readonly isInTransaction: (() => boolean) | undefined
}

export type Start = (plan: WorkflowPlan, input: unknown, tx: TransactionHandle | undefined) => Promise<StartedWorkflow>

export function createStart({ store, routing, explain, isInTransaction }: StartDeps): Start {
  const start = async (...[plan, input, tx, trace]: [...Parameters<Start>, trace?: string]) => {
    const db = tx === undefined ? undefined : storeIn(tx)
    const found = new Map<string, TaskRoute>()
    for (const task of tasksOfPlan(plan.steps)) found.set(task, await routing.routeOf(task, db))
    await assertPayloads(plan, input, found)
    const tasks = Object.fromEntries([...found].map(([task, destination]) => [task, stepTask(task, destination)]))
    const asked = { plan, input, tasks, ...(trace !== undefined && { trace }) }
    // The commit wakes idle replicas, here and in the caller's transaction.
    return db === undefined ? store.startWorkflow(asked, { isInTransaction }) : startWorkflow(db, asked)
  }
  return (plan, input, tx) => {
    const send = (trace?: string) => start(plan, input, tx, trace)
    const about = { destination: plan.name, count: plan.steps.length }
    return explained(isTracing() ? traceEnqueue(about, send, ({ id }) => id) : send(), explain, tx)
  }
}

function stepTask(task: string, { lane, options }: TaskRoute): StepTask {
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

async function assertPayloads(
  plan: WorkflowPlan,
  input: unknown,
  found: ReadonlyMap<string, TaskRoute>,
): Promise<void> {
  for (const step of plan.steps) {
    if (step.kind !== 'task') continue
    const { value, holes: open } = fillSome(step.payload, (ref) =>
      ref.from === 'input' ? { value: valueAt(input, ref.at) ?? null } : undefined,
    )
    if (Object.keys(open).length > 0) continue
    await assertPayload(step.task, value, found.get(step.task)?.check).catch(named(step.name))
  }
}

function named(step: string): (error: unknown) => never {
  return (error) => {
    if (!isExplained(error)) throw error
    const { code, message: what, why, fix } = error
    throw new ExplainedError({ code, what, why: `step ${JSON.stringify(step)}: ${why}`, fix, cause: error })
  }
}
