export { queue, type Queue } from './queue.ts'
export type { EnqueueOptions } from './run-options.ts'
export type { WindowOptions } from './windows.ts'
export type { NewSchedule, Schedules } from './schedules.ts'
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
