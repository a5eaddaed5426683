/** What the workers found in the task modules: the tasks, or everything that is wrong with them. */
import { TaskDefinitionError } from '@q/task'
import type { Description, TaskDescription } from '../protocol.ts'

export function checkDescription(description: Description): readonly TaskDescription[] {
  if (description.problems.length === 0) return description.tasks
  const errors = description.problems.map((problem) => new TaskDefinitionError(problem))
  throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} problems with task modules.`)
}
