/** The API that the function of a workflow receives. builder.ts implements it. */
import type { MissingResult } from '@q/schema/workflow'
import type { TaskName } from '@q/task'
import type { PayloadFor, ResultFor } from '../verbs.ts'
import type { Conditions } from './condition.ts'
import type { WithPlaceholders, Placeholder, Ref, Step, AnyStep } from './ref.ts'
import type { GraphOptions, IsLoose, Join, MapStepOptions, StepRunOptions, TaskStepOptions } from './step-options.ts'
import type { Workflow } from './workflow.ts'

export interface WorkflowBuilder<Tasks> extends Conditions {
  /**
   * Adds one run of a task. If its payload contains a placeholder of another step, that step is a parent: this step starts
   * after it, with its result. A step that starts without the success of all parents (`allowFailed`, `join`) gets a
   * `MissingResult` for a missing result, and its payload type must accept one.
   */
  step<Name extends TaskName<Tasks>, AllowFailed extends boolean = false, How extends Join = 'all'>(
    task: Name,
    payload: WithPlaceholders<PayloadFor<Tasks, Name>, IsLoose<AllowFailed, How>>,
    options?: TaskStepOptions<AllowFailed, How>,
  ): Step<ResultFor<Tasks, Name>>

  /**
   * Adds one run of a task per element of a list that another step produces. Its result is the list of their results, in the
   * same order. `payload` is called once, with a placeholder for the element. For a list that is already known, call `step`
   * in a loop.
   */
  map<
    Name extends TaskName<Tasks>,
    Item,
    AllowFailed extends boolean = false,
    How extends Join = 'all',
    Collect extends 'fail' | 'collect' = 'fail',
  >(
    task: Name,
    over: Placeholder<readonly Item[], IsLoose<AllowFailed, How> extends true ? readonly Item[] : unknown>,
    payload: (item: Ref<Item>) => WithPlaceholders<PayloadFor<Tasks, Name>, IsLoose<AllowFailed, How>>,
    options?: MapStepOptions<AllowFailed, How, Collect>,
  ): Step<(ResultFor<Tasks, Name> | (Collect extends 'collect' ? MissingResult : never))[]>

  /** Adds a workflow as a step; the result is its output. */
  sub<Input, Output, AllowFailed extends boolean = false, How extends Join = 'all'>(
    workflow: Workflow<Input, Output>,
    input: WithPlaceholders<NoInfer<Input>, IsLoose<AllowFailed, How>>,
    options?: GraphOptions<AllowFailed, How>,
  ): Step<Output>

  /**
   * Adds a task that undoes the step if the step succeeded and the workflow fails or is cancelled. `payload` is called once,
   * with the result of the step; results of other steps may be missing.
   */
  compensate<Result, Name extends TaskName<Tasks>>(
    step: AnyStep & Placeholder<Result>,
    task: Name,
    payload: (done: Ref<Result>) => WithPlaceholders<PayloadFor<Tasks, Name>, true>,
    options?: StepRunOptions,
  ): void

  /**
   * For outputs and payloads: the result, or a `MissingResult` if there is none. A workflow can succeed although a step was
   * skipped or failed; an output that hides this is rejected.
   */
  orMissing<T>(value: Placeholder<T>): Ref<T | MissingResult>
}
