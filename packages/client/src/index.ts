export { queue, type QueueOptions } from './queue.ts'
export type { AnyTasks, EnqueueCall, HandleFor, HandlesFor, PayloadFor, Queue } from './verbs.ts'
export type { Database } from './database.ts'
export type { EnqueueOptions, RunOptions } from './enqueue-options.ts'
export type { NewSchedule, Schedules } from './schedules.ts'
export type { ThrottleDebounceOptions } from './throttle-debounce.ts'
export type { TransactionHandle } from './transaction.ts'
export { RunFailed, type ResultOptions, type RunHandle, type RunReference } from './handle.ts'
export type { RunProgress } from './progress.ts'
export { workflow, type DefineWorkflow, type Workflow, type WorkflowOptions } from './workflow/workflow.ts'
export type { WorkflowHandle, WorkflowProgress } from './workflow/handle.ts'
export { WorkflowFailed, type FailedStep } from './workflow/failed.ts'
export type { StartArguments, StartOptions } from './workflow/verbs.ts'
export type { ValueTest, When } from './workflow/condition.ts'
export type { WorkflowBuilder } from './workflow/workflow-api.ts'
export type { WithPlaceholders, Placeholder, Ref, Step } from './workflow/ref.ts'
export type { Join, MapStepOptions, StepRunOptions, TaskStepOptions } from './workflow/step-options.ts'
export type { MissingResult } from '@q/schema/workflow'
export type {
  CancelAnswer,
  CancelWorkflowAnswer,
  Connection,
  PageRequest,
  PauseAnswer,
  ResumeAnswer,
  RetryAnswer,
  RetryWorkflowAnswer,
  RunFilter,
  RunId,
  RunSummaryPage,
  RunSummary,
  RunView,
  Schedule,
  StepPageRequest,
  StepView,
  WorkflowId,
  WorkflowView,
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
