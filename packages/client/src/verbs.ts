/** The producer's API: the contracts of `queue()`. It depends on the types of the tasks only. */
import type { CancelAnswer, RetryAnswer, RunFilter, RunSummaryPage, PageRequest, RunView } from '@q/store'
import type { ArrivingView, PayloadOf, ResultOf, Task, TaskName, TasksOf } from '@q/task'
import type { EnqueueOptions, RunOptions } from './enqueue-options.ts'
import type { RunHandle, RunReference } from './handle.ts'
import type { Schedules } from './schedules.ts'
import type { TransactionHandle } from './transaction.ts'
import type { ClientWorkflowVerbs } from './workflow/verbs.ts'

/** For a queue without task types: any name, any payload. */
export type AnyTasks = Record<string, Task<unknown, unknown, never>>

export type PayloadFor<Tasks, Name extends TaskName<Tasks>> = PayloadOf<TasksOf<Tasks>[Name]>
/** The returned value as JSON has it: a Date is a string. */
export type ResultFor<Tasks, Name extends TaskName<Tasks>> = ArrivingView<Awaited<ResultOf<TasksOf<Tasks>[Name]>>>
export type HandleFor<Tasks, Name extends TaskName<Tasks>> = RunHandle<ResultFor<Tasks, Name>>

/** The arguments of one enqueue as a tuple, for `enqueueMany`: `['resize', { url }, { delay: '5m' }]`. */
export type EnqueueCall<Tasks> = {
  [Name in TaskName<Tasks>]: readonly [task: Name, payload: PayloadFor<Tasks, Name>, options?: RunOptions]
}[TaskName<Tasks>]

/** One handle per call, in the same order. */
export type HandlesFor<Tasks, Calls extends readonly EnqueueCall<Tasks>[]> = {
  -readonly [Place in keyof Calls]: Calls[Place] extends readonly [infer Name extends TaskName<Tasks>, ...unknown[]]
    ? HandleFor<Tasks, Name>
    : never
}

export interface Queue<Tasks> extends Schedules<Tasks>, ClientWorkflowVerbs {
  // ---- Enqueue

  /**
   * Enqueues one run. The run is durable when the promise resolves; with `tx`, when the caller's transaction commits. Payload
   * and options are checked before anything is written. Concurrent calls share a statement: do not change the payload until
   * the promise resolves.
   */
  enqueue<Name extends TaskName<Tasks>>(
    task: Name,
    payload: PayloadFor<Tasks, Name>,
    options?: EnqueueOptions,
  ): Promise<HandleFor<Tasks, Name>>

  /**
   * Enqueues all of the runs or none, in as few statements as possible. Each call is a tuple; the handles have the same order.
   * If one call is invalid, none is enqueued, and the error names it.
   */
  enqueueMany<const Calls extends readonly EnqueueCall<Tasks>[]>(
    calls: Calls,
    options?: { readonly tx?: TransactionHandle },
  ): Promise<HandlesFor<Tasks, Calls>>

  // ---- Runs

  /**
   * Cancels a run. A run that has not started is CANCELLED at once; a running one is stopped and ends when its code has
   * stopped. Cancelling a run that has ended changes nothing.
   */
  cancel(run: RunReference): Promise<CancelAnswer>

  /**
   * Starts a run that has ended again, in a new epoch, whatever its outcome was.
   * Rejects while another run that has not ended has the same unique key.
   */
  retry(run: RunReference): Promise<RetryAnswer>

  /**
   * Reads a run by its id; undefined if it does not exist.
   * It has its progress while it runs, and its result once it has ended.
   */
  get(run: RunReference): Promise<RunView | undefined>

  /**
   * Lists runs by filter, newest first, at most 500 per page. Continue with `{ cursor: page.next }`; pages neither skip nor
   * repeat runs.
   */
  list(filter?: RunFilter & { readonly task?: TaskName<Tasks> }, page?: PageRequest): Promise<RunSummaryPage>

  /**
   * Returns a handle for a run that was enqueued elsewhere.
   * It sends nothing: a missing run is reported by the handle's methods.
   */
  handle(runId: string): RunHandle<unknown>

  // ---- Groups

  /**
   * Sets how many shares of a queue (`default` if omitted) a group gets: 1 to 1000, initially 1.
   * Takes effect with the next claim.
   */
  setGroupWeight(group: { readonly queue?: string; readonly group: string }, weight: number): Promise<void>

  // ---- Close

  /**
   * Closes the connections that `queue()` opened; a pool, client or connection that the caller passed stays open.
   * Pending waits and later calls reject with `QUEUE_CLOSED`.
   */
  close(): Promise<void>
}
