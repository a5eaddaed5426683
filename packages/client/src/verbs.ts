/** What a producer can do. The contracts are here; the types are those of the tasks alone. */
import type { CancelAnswer, RetryAnswer, RunFilter, RunPage, PageRequest, RunView } from '@q/store'
import type { ArrivingView, PayloadOf, ResultOf, Task, TaskName, TasksOf } from '@q/task'
import type { EnqueueOptions, RunOptions } from './enqueue-options.ts'
import type { RunHandle, RunReference } from './handle.ts'
import type { Schedules } from './schedules.ts'
import type { TransactionHandle } from './transaction.ts'
import type { WorkflowVerbs } from './workflow/verbs.ts'

/** Of a producer that names no tasks: any name, any payload. */
export type AnyTasks = Record<string, Task<unknown, unknown, never>>

export type PayloadFor<Tasks, Name extends TaskName<Tasks>> = PayloadOf<TasksOf<Tasks>[Name]>
/** The JSON view of the value that the task returned: a Date is text. */
export type ResultFor<Tasks, Name extends TaskName<Tasks>> = ArrivingView<Awaited<ResultOf<TasksOf<Tasks>[Name]>>>
export type HandleFor<Tasks, Name extends TaskName<Tasks>> = RunHandle<ResultFor<Tasks, Name>>

/** What enqueueMany takes, the arguments of one enqueue as a tuple: `['resize', { url }, { delay: '5m' }]`. */
export type EnqueueCall<Tasks> = {
  [Name in TaskName<Tasks>]: readonly [task: Name, payload: PayloadFor<Tasks, Name>, options?: RunOptions]
}[TaskName<Tasks>]

/** One for each call, in their order. */
export type HandlesFor<Tasks, Calls extends readonly EnqueueCall<Tasks>[]> = {
  -readonly [Place in keyof Calls]: Calls[Place] extends readonly [infer Name extends TaskName<Tasks>, ...unknown[]]
    ? HandleFor<Tasks, Name>
    : never
}

export interface Queue<Tasks> extends Schedules<Tasks>, WorkflowVerbs {
  // ---- Enqueue

  /**
   * One run. Durable when it resolves, or with `tx` as durable as the caller's transaction. Payload and options are checked
   * before anything is written. Calls at the same time share a statement, so leave the payload as it is until it resolves.
   */
  enqueue<Name extends TaskName<Tasks>>(
    task: Name,
    payload: PayloadFor<Tasks, Name>,
    options?: EnqueueOptions,
  ): Promise<HandleFor<Tasks, Name>>

  /**
   * Many runs, all of them or none, as few statements as they need. One call each, as a tuple; handles in the same order.
   * With one bad call none is enqueued, and the error says which.
   */
  enqueueMany<const Calls extends readonly EnqueueCall<Tasks>[]>(
    calls: Calls,
    options?: { readonly tx?: TransactionHandle },
  ): Promise<HandlesFor<Tasks, Calls>>

  // ---- Runs

  /**
   * What has not started is CANCELLED at once; what runs is told to stop, and ends when its code has.
   * A cancel that comes after the end changes nothing.
   */
  cancel(run: RunReference): Promise<CancelAnswer>

  /**
   * A run that has ended begins again, in a new epoch, whatever its end was.
   * Refused while another live run has its unique key.
   */
  retry(run: RunReference): Promise<RetryAnswer>

  /**
   * A run by its id, or undefined if there is none.
   * With its result once it has ended, and its progress while it runs.
   */
  get(run: RunReference): Promise<RunView | undefined>

  /**
   * Runs by filter, newest first, in pages that neither skip nor repeat.
   * Go on with `{ cursor: page.next }`; at most 500 a page.
   */
  list(filter?: RunFilter & { readonly task?: TaskName<Tasks> }, page?: PageRequest): Promise<RunPage>

  /**
   * A handle for a run enqueued elsewhere.
   * Whether there is such a run is known when it is asked for something.
   */
  handle(runId: string): RunHandle<unknown>

  // ---- Groups

  /**
   * How many shares of its queue (`default` unless said) a group gets, 1 to 1000; 1 unless set.
   * Counts from the next claim on.
   */
  setGroupWeight(group: { readonly queue?: string; readonly group: string }, weight: number): Promise<void>

  // ---- The end

  /**
   * Who waits for a result, or asks for anything later, is told so: QUEUE_CLOSED. Connections that queue() made are closed; a pool, client or connection that the
   * caller passed stays open.
   */
  close(): Promise<void>
}
