/**
 * `workflow<typeof tasks>()(name, function, options)`: the function runs once, here, and leaves a plan: the graph as data.
 * Which steps wait for which is told by whose placeholders they were given.
 *
 * Everything wrong is told where it is defined, all at once, before there is a database.
 */
import { types as native } from 'node:util'
import { checkPlan, type WorkflowPlan } from '@q/schema/workflow'
import type { AnyTasks } from '../verbs.ts'
import { createBuilder } from './builder.ts'
import type { WorkflowKit } from './kit.ts'
import { futileQuestions, uncertainOutputs } from './certainty.ts'
import type { Filled, Ref } from './ref.ts'
import { invalidWorkflow } from './workflow-error.ts'

declare const types: unique symbol

/** What can be started: by `q.start(workflow, input)`, or as a step of another one by `sub`. */
export interface Workflow<in Input = never, out Output = unknown> {
  readonly name: string
  /** The graph as data: what is stored. */
  readonly plan: WorkflowPlan
  readonly [types]?: (input: Input) => Output
}

export interface WorkflowOptions {
  /**
   * What a step that ends badly does to the others: nothing more is started (`fail`, default), the workflow waits for a
   * person (`pause`), or whatever does not depend on it goes on (`continue`).
   */
  readonly onError?: 'fail' | 'pause' | 'continue'
}

const policies: readonly string[] = ['fail', 'pause', 'continue']

export type DefineWorkflow<Tasks> = <Input, Returned>(
  name: string,
  define: (kit: WorkflowKit<Tasks>, input: Ref<Input>) => Returned,
  options?: WorkflowOptions,
) => Workflow<Input, Filled<Returned>>

/** `Tasks`: `typeof tasks` of the modules whose tasks are its steps; none: any names and payloads. */
export function workflow<Tasks = AnyTasks>(): DefineWorkflow<Tasks> {
  return (name, define, { onError } = {}) => {
    const builder = createBuilder(name)
    const returned: unknown = define(builder.kit as unknown as WorkflowKit<Tasks>, builder.input as never)
    if (native.isPromise(returned)) {
      throw invalidWorkflow(name, ['its function is async, and there is nothing in it to wait for'])
    }
    const { steps, output, shown } = builder.end(returned)
    const plan: WorkflowPlan = { name, steps, output, ...(onError === undefined ? {} : { onError }) }
    const checked = checkPlan(plan)
    if (onError !== undefined && !policies.includes(onError)) {
      throw invalidWorkflow(name, [`onError must be one of ${policies.join(', ')}`])
    }
    const problems = checked.ok
      ? [...futileQuestions(checked.order), ...uncertainOutputs(checked.order, shown)]
      : checked.problems
    if (problems.length > 0) throw invalidWorkflow(name, problems)
    return Object.freeze({ name, plan })
  }
}
