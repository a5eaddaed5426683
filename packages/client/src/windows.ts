/** Which of several enqueues becomes a run: there is one law, that of the enqueue, else that of its task. */
import { ExplainedError } from '@q/schema'
import {
  debounceData,
  runOptionProblems,
  throttleData,
  type DebounceOptions,
  type OptionData,
  type ThrottleOptions,
} from '@q/task'

export interface WindowOptions {
  /** The first one in a window counts, and this may be that run. Instead of what the task says. */
  readonly throttle?: ThrottleOptions
  /** The last one in a window counts, and what waits becomes this. Instead of what the task says. */
  readonly debounce?: DebounceOptions
}

/** The options of a task, with the law of one enqueue in place of its own. */
export function withWindow(published: Partial<OptionData>, options: WindowOptions): Partial<OptionData> {
  const { throttle, debounce } = options
  if (throttle === undefined && debounce === undefined) return published
  const problems = runOptionProblems({ ...(throttle && { throttle }), ...(debounce && { debounce }) })
  if (problems.length > 0) throw wrongOptions(problems)
  return {
    ...published,
    unique: null,
    throttle: throttle === undefined ? null : throttleData(throttle),
    debounce: debounce === undefined ? null : debounceData(debounce),
  }
}

function wrongOptions(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'RUN_OPTION_INVALID',
    what: 'An option of a run cannot be used; nothing was enqueued.',
    why: `${problems.join('; ')}.`,
    fix: 'Correct it, or leave it out.',
  })
}
