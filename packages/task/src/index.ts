export {
  isTask,
  task,
  type PayloadOf,
  type ResultOf,
  type Task,
  type TaskFunction,
  type TaskName,
  type TasksOf,
} from './task.ts'
export { defaultQueue, isName, TaskDefinitionError, type TaskOptions } from './options.ts'
export { RunAborted, type TaskContext } from './context.ts'
export { durationMs, type Duration } from './duration.ts'
