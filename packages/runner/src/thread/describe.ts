/** Describes the tasks of a worker as data that can be published. */
import { optionData, type Task } from '@q/task'
import { canTraceRuns, isTracing } from '@q/task/tracing'
import type { Description, TaskDescription } from '../protocol/messages.ts'
import type { Registry } from './registry.ts'

export function describe(registry: Registry): Description {
  const tasks = [...registry.tasks].map(([name, task]) => describeTask(name, task))
  return { problems: registry.problems, tasks, tracing: isTracing(), tracesRuns: canTraceRuns() }
}

function describeTask(name: string, task: Task): TaskDescription {
  const options = optionData(task.options)
  return { name, queue: options.queue, options, payloadSchema: jsonSchemaOf(task.options.input) }
}

/** Validators that follow Standard JSON Schema can say what they accept; the others are still checked before the run. */
function jsonSchemaOf(input: unknown): Record<string, unknown> | null {
  const standard: unknown = input === undefined ? undefined : Reflect.get(Object(input), '~standard')
  const converter: unknown = standard === undefined ? undefined : Reflect.get(Object(standard), 'jsonSchema')
  const convert: unknown = converter === undefined ? undefined : Reflect.get(Object(converter), 'input')
  if (typeof convert !== 'function') return null
  try {
    return JSON.parse(JSON.stringify(convert({ target: 'draft-2020-12' })))
  } catch {
    return null // a schema that has no JSON form, for instance one with a transform
  }
}
