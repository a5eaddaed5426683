export { queue, type QueueOptions } from './queue.ts'
export type { AnyTasks, EnqueueCall, HandleFor, HandlesFor, PayloadFor, Queue } from './verbs.ts'
export type { Database } from './database.ts'
export type { EnqueueOptions, RunOptions } from './enqueue-options.ts'
export type { NewSchedule, Schedules } from './schedules.ts'
export type { WindowOptions } from './windows.ts'
export type { TransactionHandle } from './transaction.ts'
export { RunFailed, type ResultOptions, type RunHandle, type RunReference } from './handle.ts'
export type { RunProgress } from './progress.ts'
export type {
  CancelAnswer,
  Connection,
  PageRequest,
  RetryAnswer,
  RunFilter,
  RunId,
  RunPage,
  RunSummary,
  RunView,
  Schedule,
} from '@q/store'
export {
  Fail,
  RequestRefused,
  Retry,
  RunAborted,
  Snooze,
  task,
  type Duration,
  type Task,
  type TaskContext,
  type TaskOptions,
} from '@q/task'
