/**
 * `workflow<typeof tasks>()(name, function, options)`: the function runs once, here, and produces a plan: the graph as data.
 * A step depends on the steps whose placeholders it uses.
 *
 * All problems are reported together, at the definition, before a database is needed.
 */
import { types as native } from 'node:util'
import { checkPlan, type WorkflowPlan } from '@q/schema/workflow'
import type { AnyTasks } from '../verbs.ts'
import { createPlanBuilder } from './builder.ts'
import type { WorkflowBuilder } from './workflow-api.ts'
import { unreachableConditions, uncertainOutputs } from './check-outputs.ts'
import type { Filled, Ref } from './ref.ts'
import { invalidWorkflow } from './workflow-error.ts'

declare const types: unique symbol

/** A workflow definition: start it with `q.start(workflow, input)`, or add it to another one with `sub`. */
export interface Workflow<in Input = never, out Output = unknown> {
  readonly name: string
  /** The graph as data, as it is stored. */
  readonly plan: WorkflowPlan
  readonly [types]?: (input: Input) => Output
}

export interface WorkflowOptions {
  /**
   * What happens when a step fails: no further step starts (`fail`, default), the workflow waits for a person (`pause`), or
   * steps that do not depend on it continue (`continue`).
   */
  readonly onError?: 'fail' | 'pause' | 'continue'
}

export type DefineWorkflow<Tasks> = <Input, Returned>(
  name: string,
  define: (api: WorkflowBuilder<Tasks>, input: Ref<Input>) => Returned,
  options?: WorkflowOptions,
) => Workflow<Input, Filled<Returned>>

/** `Tasks`: `typeof tasks` of the modules whose tasks are its steps; without it, any name and payload is accepted. */
export function workflow<Tasks = AnyTasks>(): DefineWorkflow<Tasks> {
  return (name, define, { onError } = {}) => {
    const builder = createPlanBuilder(name)
    const returned: unknown = define(builder.api as unknown as WorkflowBuilder<Tasks>, builder.input as never)
    if (native.isPromise(returned)) {
      throw invalidWorkflow(name, ['its function is async; it must be synchronous'])
    }
    const { steps, output, shown } = builder.end(returned)
    const plan: WorkflowPlan = { name, steps, output, ...(onError === undefined ? {} : { onError }) }
    const checked = checkPlan(plan)
    const problems = checked.ok
      ? [...unreachableConditions(checked.order), ...uncertainOutputs(checked.order, shown)]
      : checked.problems
    if (problems.length > 0) throw invalidWorkflow(name, problems)
    return Object.freeze({ name, plan })
  }
}
