/** Throttle and debounce of one enqueue; they replace those of its task. */
import { ExplainedError } from '@q/schema'
import {
  debounceData,
  runOptionProblems,
  throttleData,
  type DebounceOptions,
  type OptionData,
  type ThrottleOptions,
} from '@q/task'

export interface ThrottleDebounceOptions {
  /** The first enqueue in a window creates the run; later ones return it. Replaces the task's. */
  readonly throttle?: ThrottleOptions
  /** The last enqueue in a window wins: it replaces the run that is waiting. Replaces the task's. */
  readonly debounce?: DebounceOptions
}

/** The options of a task, with the throttle or debounce of one enqueue instead of its own. */
export function withThrottleDebounce(
  published: Partial<OptionData>,
  options: ThrottleDebounceOptions & { readonly idempotencyKey?: string },
): Partial<OptionData> {
  const { throttle, debounce, idempotencyKey } = options
  if ((throttle ?? debounce ?? idempotencyKey) === undefined) return published
  const problems = [
    ...runOptionProblems({ ...(throttle && { throttle }), ...(debounce && { debounce }) }),
    ...(idempotencyKey !== undefined && (throttle ?? debounce) !== undefined
      ? ['idempotencyKey: cannot be combined with throttle or debounce']
      : []),
  ]
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
    what: 'An option of the run is invalid; nothing was enqueued.',
    why: `${problems.join('; ')}.`,
    fix: 'Correct it, or leave it out.',
  })
}
