/**
 * The closed list of codes with which a run can end, each with its explanation for people.
 * `result.code` of every run that did not succeed is one of these.
 */
export const errorCodes = {
  TASK_ERROR: 'The code threw an error.',
  WORKER_CRASHED: 'The replica, thread or process that ran it died or stopped responding.',
  POISONED: 'It was running each time a replica died, too often to start it again.',
  TIMEOUT: 'It ran longer than its time limit.',
  SILENT: 'It was silent for longer than allowed.',
  OUT_OF_MEMORY: 'It used more memory than its thread or process may.',
  DRAINED: 'Its replica was shut down before it could finish.',
  INVALID_PAYLOAD: "The payload does not match the task's schema; the code was not started.",
  INVALID_RESULT: 'The return value cannot be written as JSON.',
  RESULT_TOO_LARGE: 'The return value is too large to store.',
  UNKNOWN_TASK: 'The replica that claimed it does not know the task.',
  TASK_CANCELLED: 'It was cancelled.',
  TASK_EXPIRED: 'It was not started before its deadline.',
  UPSTREAM_FAILED: 'A step it needs failed.',
  UPSTREAM_SKIPPED: 'A step it needs was skipped.',
  CONDITION_NOT_MET: 'The condition of the step was false.',
  DUPLICATE: 'Another run had its unique key, or its throttle or debounce window, when its task was published.',
  RESULT_NOT_AVAILABLE: 'It ended, but its result is missing.',
  UNROUTABLE: 'No live replica can serve it.',
} as const
export type ErrorCode = keyof typeof errorCodes
