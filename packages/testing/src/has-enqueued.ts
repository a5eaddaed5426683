/** What `expect(q).toHaveEnqueued(…)` accepts, from the tasks of `q` alone. */
import type { PayloadOf, TaskName, TasksOf } from '@q/task'
import type { tasksOf } from './test-queue.ts'
import type { EnqueuedOptions } from './to-have-enqueued.ts'

/** A part of it is enough, and `expect.any(…)` and its like stand for anything. */
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
   * A run of this task was enqueued, by whomsoever; its payload matches as in `toMatchObject`. Reads the database: await it.
   */
  toHaveEnqueued<Name extends NameIn<Q>>(
    task: Name,
    payload?: Matching<PayloadIn<Q, Name>>,
    options?: EnqueuedOptions,
  ): Promise<void>
}
