/** The errors for unknown ids and names: exit code 4. */
import { ExplainedError } from '@q/schema'

export function runNotFound(id: string): ExplainedError {
  return missing('RUN_NOT_FOUND', `run ${id}`, {
    why: 'It was never enqueued in this database, or it ended long ago and was removed.',
    fix: 'Check the id, and DATABASE_URL. q runs lists the newest runs.',
  })
}

export function workflowNotFound(id: string): ExplainedError {
  return missing('WORKFLOW_NOT_FOUND', `workflow ${id}`, {
    why: 'It was never started in this database, or it ended long ago and was removed.',
    fix: 'Check the id, and DATABASE_URL. q workflows lists the newest workflows.',
  })
}

export function scheduleNotFound(name: string): ExplainedError {
  return missing('SCHEDULE_NOT_FOUND', `schedule "${name}"`, {
    why: 'No schedule has that name. A schedule that a task declares is named task:<task>.',
    fix: 'q schedules lists all of them.',
  })
}

export function destinationNotFound(name: string): ExplainedError {
  return missing('DESTINATION_NOT_FOUND', `destination "${name}"`, {
    why: 'No destination has that name.',
    fix: 'q destinations lists all of them.',
  })
}

export function deliveryNotFound(id: string): ExplainedError {
  return missing('DELIVERY_NOT_FOUND', `delivery ${id}`, {
    why: 'No report has that id, or it was removed because it was old.',
    fix: 'q deliveries lists them.',
  })
}

export function queueNotFound(name: string): ExplainedError {
  return missing('QUEUE_NOT_FOUND', `queue "${name}"`, {
    why: 'No run has ever been enqueued in it, and it is not paused.',
    fix: 'q queues lists all of them.',
  })
}

export function errorGroupNotFound(fingerprint: string): ExplainedError {
  return missing('ERROR_GROUP_NOT_FOUND', `group of errors ${fingerprint}`, {
    why: 'No error with that fingerprint is on record, or more than one begins so.',
    fix: 'q errors lists them; use more characters of the fingerprint.',
  })
}

export function memoryKeyNotFound(key: string): ExplainedError {
  return missing('MEMORY_KEY_NOT_FOUND', `key "${key}"`, {
    why: 'The memory file has no entity of exactly this name.',
    fix: 'q memory ls lists all of them. Is it the right file?',
  })
}

export function operationNotFound(id: string): ExplainedError {
  return missing('OPERATION_NOT_FOUND', `operation ${id}`, {
    why: 'It was never requested in this database, or it ended long ago and was removed.',
    fix: 'q operations lists the newest operations.',
  })
}

function missing(code: string, noun: string, more: { readonly why: string; readonly fix: string }): ExplainedError {
  return new ExplainedError({ code, what: `There is no ${noun}.`, ...more })
}
