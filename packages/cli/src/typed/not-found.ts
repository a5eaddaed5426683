/** The errors for unknown ids and names: exit code 4. */
import { ExplainedError } from '@q/schema'

export function runNotFound(id: string): ExplainedError {
  return missing({
    code: 'RUN_NOT_FOUND',
    noun: `run ${id}`,
    why: 'It was never enqueued in this database, or it ended long ago and was removed.',
    fix: 'Check the id, and DATABASE_URL. q runs lists the newest runs.',
  })
}

export function workflowNotFound(id: string): ExplainedError {
  return missing({
    code: 'WORKFLOW_NOT_FOUND',
    noun: `workflow ${id}`,
    why: 'It was never started in this database, or it ended long ago and was removed.',
    fix: 'Check the id, and DATABASE_URL. q workflows lists the newest workflows.',
  })
}

export function scheduleNotFound(name: string): ExplainedError {
  return missing({
    code: 'SCHEDULE_NOT_FOUND',
    noun: `schedule "${name}"`,
    why: 'No schedule has that name. A schedule that a task declares is named task:<task>.',
    fix: 'q schedules lists all of them.',
  })
}

export function destinationNotFound(name: string): ExplainedError {
  return missing({
    code: 'DESTINATION_NOT_FOUND',
    noun: `destination "${name}"`,
    why: 'No destination has that name.',
    fix: 'q destinations lists all of them.',
  })
}

export function deliveryNotFound(id: string): ExplainedError {
  return missing({
    code: 'DELIVERY_NOT_FOUND',
    noun: `delivery ${id}`,
    why: 'No report has that id, or it was removed because it was old.',
    fix: 'q deliveries lists them.',
  })
}

/** `hint`: the name that was probably meant, as a sentence. */
export function queueNotFound(name: string, hint: string): ExplainedError {
  return missing({
    code: 'QUEUE_NOT_FOUND',
    noun: `queue "${name}"`,
    hint,
    why: 'No run has ever been enqueued in it, and it is not paused.',
    fix: 'q queues lists all of them.',
  })
}

export function errorGroupNotFound(fingerprint: string): ExplainedError {
  return missing({
    code: 'ERROR_GROUP_NOT_FOUND',
    noun: `group of errors ${fingerprint}`,
    why: 'No error with that fingerprint is on record, or more than one begins so.',
    fix: 'q errors lists them; use more characters of the fingerprint.',
  })
}

export function memoryKeyNotFound(key: string): ExplainedError {
  return missing({
    code: 'MEMORY_KEY_NOT_FOUND',
    noun: `key "${key}"`,
    why: 'The memory file has no entity of exactly this name.',
    fix: 'q memory ls lists all of them. Is it the right file?',
  })
}

export function operationNotFound(id: string): ExplainedError {
  return missing({
    code: 'OPERATION_NOT_FOUND',
    noun: `operation ${id}`,
    why: 'It was never requested in this database, or it ended long ago and was removed.',
    fix: 'q operations lists the newest operations.',
  })
}

interface Missing {
  readonly code: string
  /** The kind and the name or id: `run 123`. */
  readonly noun: string
  readonly hint?: string
  readonly why: string
  readonly fix: string
}

function missing({ noun, hint = '', ...more }: Missing): ExplainedError {
  return new ExplainedError({ what: `There is no ${noun}.${hint}`, ...more })
}
