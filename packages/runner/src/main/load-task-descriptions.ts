/** Loads the task modules in a worker thread and returns their tasks, or rejects with every problem at once. */
import { TaskDefinitionError } from '@q/task'
import type { Description, ExplainedProblem, TaskDescription } from '../protocol/messages.ts'
import { within } from './loop.ts'

const loadMsMax = 60_000

/** Rejects if a module ends the thread that loads it, or does not finish loading. */
export async function loadDescription(
  threads: { describe(): Promise<Description> },
  leaving?: AbortSignal,
): Promise<Description> {
  const died = (cause: unknown) => {
    throw failed(`The thread that loaded them died: ${cause instanceof Error ? cause.message : String(cause)}.`, cause)
  }
  const loaded = await within(loadMsMax, threads.describe().catch(died), leaving)
  leaving?.throwIfAborted()
  if (loaded === undefined) throw failed(`They were still loading after ${loadMsMax / 1_000} s.`)
  return loaded
}

export function checkDescription(description: Description): readonly TaskDescription[] {
  if (description.problems.length === 0) return description.tasks
  const errors = description.problems.map(definitionError)
  throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} problems with task modules.`)
}

function definitionError({ stack, ...problem }: ExplainedProblem): TaskDefinitionError {
  if (stack === undefined) return new TaskDefinitionError(problem)
  return new TaskDefinitionError({ ...problem, cause: Object.assign(new Error(problem.why), { stack }) })
}

function failed(why: string, cause?: unknown): TaskDefinitionError {
  return new TaskDefinitionError({
    code: 'TASK_MODULE_FAILED',
    what: 'The task modules cannot be loaded.',
    why,
    fix: 'Correct the modules so that importing them neither exits nor blocks forever; do work inside tasks.',
    cause,
  })
}
