/** The types of `expect(q).toHaveEnqueued(…)`, derived from the tasks of `q`. */
import type { PayloadOf, TaskName, TasksOf } from '@q/task'
import type { tasksOf } from './test-queue.ts'
import type { EnqueuedOptions } from './to-have-enqueued.ts'

/** A partial value; asymmetric matchers such as `expect.any(…)` are allowed anywhere. */
export type Matching<Value> = Asymmetric | MatchingParts<Value>

type MatchingParts<Value> = Value extends readonly (infer Item)[]
  ? readonly Matching<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: Matching<Value[Key]> }
    : Value

interface Asymmetric {
  asymmetricMatch(other: unknown): boolean
}

type NameIn<Q> = Q extends { readonly [tasksOf]: infer Tasks } ? TaskName<Tasks> : never
type PayloadIn<Q, Name extends string> = Q extends { readonly [tasksOf]: infer Tasks }
  ? Name extends keyof TasksOf<Tasks>
    ? PayloadOf<TasksOf<Tasks>[Name]>
    : never
  : never

export interface HasEnqueued<Q> {
  /**
   * Asserts that a run of this task was enqueued, with a payload that matches as in `toMatchObject`. It reads the database:
   * await it.
   */
  toHaveEnqueued<Name extends NameIn<Q>>(
    task: Name,
    payload?: Matching<PayloadIn<Q, Name>>,
    options?: EnqueuedOptions,
  ): Promise<void>
}
