export {
  isTask,
  nameOf,
  task,
  type PayloadOf,
  type ResultOf,
  type Task,
  type TaskFunction,
  type TaskName,
  type TasksOf,
} from './task.ts'
export { TaskDefinitionError } from './definition-error.ts'
export { isName, runOptionProblems } from './check-options.ts'
export {
  defaultQueue,
  type ConcurrencyOptions,
  type RetryOptions,
  type TaskOptions,
  type UniqueOptions,
} from './options.ts'
export type { ArrivingView, JsonView } from './json-view.ts'
export type { JsonPointer, PointerInto } from './pointer.ts'
export { optionData, runSettings, type OptionData, type RetryData, type RunSettings } from './option-data.ts'
export { Fail, outcomeOf, Retry, Snooze, type RetryRequest, type ThrownOutcome } from './outcomes.ts'
export {
  RequestRefused,
  RunAborted,
  type ChildRunOptions,
  type LogMethod,
  type TaskContext,
  type TaskLog,
} from './context.ts'
export { durationMs, type Duration } from './duration.ts'
export { nextTick, type Pattern } from './cron.ts'
export { dueTicks, tickLimits, type DueTicks, type Missed, type ScheduleState } from './due-ticks.ts'
export { scheduleData, scheduleProblems, type ScheduleData, type ScheduleOptions } from './schedule-options.ts'
export {
  debounceData,
  throttleData,
  throttleDebounceSettings,
  type DebounceData,
  type DebounceOptions,
  type ThrottleData,
  type ThrottleOptions,
} from './throttle-debounce.ts'
