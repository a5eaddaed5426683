/**
 * The closed list of codes a run can end with, and what each one tells the person who reads it.
 * `result.code` of every run that did not succeed is one of these.
 */
export const errorCodes = {
  TASK_ERROR: 'The code threw an error.',
  WORKER_CRASHED: 'The replica, thread or process that ran it died or stopped responding.',
  POISONED: 'It was running each time a replica died, too often to be tried again.',
  TIMEOUT: 'It ran longer than its time limit.',
  SILENT: 'It gave no sign of life for longer than allowed.',
  OUT_OF_MEMORY: 'It used more memory than its thread or process may.',
  DRAINED: 'Its replica was shut down before it could finish.',
  INVALID_PAYLOAD: "The payload does not fit the task's schema; the code was not started.",
  INVALID_RESULT: 'What the code returned cannot be written as JSON.',
  RESULT_TOO_LARGE: 'What the code returned is too large to be stored.',
  UNKNOWN_TASK: 'The replica that took it does not know the task.',
  TASK_CANCELLED: 'Somebody cancelled it.',
  TASK_EXPIRED: 'It was not started before its deadline.',
  UPSTREAM_FAILED: 'A step it needs failed.',
  UPSTREAM_SKIPPED: 'A step it needs was skipped.',
  CONDITION_NOT_MET: 'The condition of the step did not hold.',
  DUPLICATE: 'Another run had its unique key, or counts in its window, when its task was published.',
  RESULT_NOT_AVAILABLE: 'It ended, but its result is missing.',
  UNROUTABLE: 'No living replica has what it requires.',
} as const
export type ErrorCode = keyof typeof errorCodes
