export { queue, type EnqueueOptions, type Queue } from './queue.ts'
export type { TransactionHandle } from './transaction.ts'
export { RunFailed, type ResultOptions, type RunHandle } from './handle.ts'
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
