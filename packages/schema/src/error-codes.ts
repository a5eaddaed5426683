/**
 * The complete list of codes with which a run can end, each with an explanation for people. `result.code` of every run
 * that did not succeed is one of these.
 */
export const errorCodes = {
  TASK_ERROR: 'The code threw an error.',
  WORKER_CRASHED: 'The replica, thread or process that executed the run died or stopped responding.',
  POISONED: 'The run was executing each time a replica died, too often to start it again.',
  TIMEOUT: 'The run exceeded its time limit.',
  SILENT: 'The run was silent for longer than its limit.',
  OUT_OF_MEMORY: 'The run exceeded the memory limit of its thread or process.',
  DRAINED: 'The replica drained, and its deadline came before the run ended.',
  INVALID_PAYLOAD: "The payload does not match the task's schema; the code did not start.",
  INVALID_RESULT: 'The return value cannot be expressed as JSON.',
  RESULT_TOO_LARGE: 'The return value is too large to store.',
  UNKNOWN_TASK: 'The replica that claimed the run does not know its task.',
  TASK_CANCELLED: 'The run was cancelled.',
  TASK_EXPIRED: 'The run did not start before its deadline.',
  UPSTREAM_FAILED: 'A step that this step needs failed.',
  UPSTREAM_SKIPPED: 'A step that this step needs was skipped.',
  CONDITION_NOT_MET: 'The condition of the step was false.',
  DUPLICATE: 'Another run had its unique key, or its throttle or debounce window, when its task was published.',
  RESULT_NOT_AVAILABLE: 'The run ended, but its result is missing.',
  UNROUTABLE: 'No live replica can serve the run.',
} as const
export type ErrorCode = keyof typeof errorCodes
