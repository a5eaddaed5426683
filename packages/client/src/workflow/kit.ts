/** What the function of a workflow is given. The contracts are here; builder.ts keeps them. */
import type { MissingResult } from '@q/schema/workflow'
import type { TaskName } from '@q/task'
import type { PayloadFor, ResultFor } from '../verbs.ts'
import type { Conditions } from './condition.ts'
import type { Given, Placeholder, Ref, Step, AnyStep } from './ref.ts'
import type { GraphOptions, IsLoose, Join, MapStepOptions, StepRunOptions, TaskStepOptions } from './step-options.ts'
import type { Workflow } from './workflow.ts'

export interface WorkflowKit<Tasks> extends Conditions {
  /**
   * One run of a task. Where its payload has a placeholder of another step, that step is a parent: it waits for it, and the
   * result is there when it starts. A step that does not insist on success (`allowFailed`, `join`) gets a `MissingResult` in
   * the place of a result that there is not, and its payload must be able to hold one.
   */
  step<Name extends TaskName<Tasks>, AllowFailed extends boolean = false, How extends Join = 'all'>(
    task: Name,
    payload: Given<PayloadFor<Tasks, Name>, IsLoose<AllowFailed, How>>,
    options?: TaskStepOptions<AllowFailed, How>,
  ): Step<ResultFor<Tasks, Name>>

  /**
   * One run of a task per element of a list that is not there yet; its result is the list of theirs, in the same order.
   * `payload` is called once, with a placeholder for the element. A list that is there already needs no map: call `step` in a
   * loop.
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
    payload: (item: Ref<Item>) => Given<PayloadFor<Tasks, Name>, IsLoose<AllowFailed, How>>,
    options?: MapStepOptions<AllowFailed, How, Collect>,
  ): Step<(ResultFor<Tasks, Name> | (Collect extends 'collect' ? MissingResult : never))[]>

  /** A workflow that is a step of this one; its result is that workflow's output. */
  sub<Input, Output, AllowFailed extends boolean = false, How extends Join = 'all'>(
    workflow: Workflow<Input, Output>,
    input: Given<NoInfer<Input>, IsLoose<AllowFailed, How>>,
    options?: GraphOptions<AllowFailed, How>,
  ): Step<Output>

  /**
   * If the step has succeeded and the workflow fails or is cancelled, this task undoes it. `payload` is called once, with the
   * result of the step; results of other steps may be missing by then.
   */
  compensate<Result, Name extends TaskName<Tasks>>(
    step: AnyStep & Placeholder<Result>,
    task: Name,
    payload: (done: Ref<Result>) => Given<PayloadFor<Tasks, Name>, true>,
    options?: StepRunOptions,
  ): void

  /**
   * For outputs and payloads: the result, or a `MissingResult` if there is none. A workflow can succeed though a step was
   * skipped or failed; an output that would hide that is refused.
   */
  orMissing<T>(value: Placeholder<T>): Ref<T | MissingResult>
}
