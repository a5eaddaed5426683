/** The filter of a list of runs, and its page. */

export interface RunFilter {
  /** Names of states in upper or lower case, including those of other systems: queued, in-progress, done, … */
  readonly status?: readonly string[]
  readonly task?: string
  readonly queue?: string
  readonly group?: string
  /** Id of the current or last holder. */
  readonly replica?: string
  /** The workflow's id, in decimal. */
  readonly workflow?: string
  readonly uniqueKey?: string
  /** The code of an end that is not a success. */
  readonly code?: string
  /** `url~cdn`: the text of the member contains it, in any case. `id=5`: it equals. `a.b=5`: a member of a member. `~cdn`: anywhere. */
  readonly payload?: string
  /** Parts of the names of members whose values `payload` must not find, in lower case without punctuation. */
  readonly hiddenMembers?: readonly string[]
  /** The fingerprint of the error that ended its last recorded attempt: 16 hexadecimal digits. */
  readonly fingerprint?: string
  /** Name of the schedule that enqueued the run. */
  readonly schedule?: string
  /** Created at this time or later. */
  readonly createdAfter?: Date
  /** Created before this time. */
  readonly createdBefore?: Date
  /** Ended at this time or later; a run that has not ended never matches. */
  readonly endedAfter?: Date
  /** Ended before this time. */
  readonly endedBefore?: Date
}

/**
 * `newest`: by id. `running`: longest first. `failed`: runs whose last attempt failed or crashed, the
 * last end first; a run that failed before it started, as UNROUTABLE, has no attempt: use the status FAILED. `waiting`: AVAILABLE runs and those that wait
 * for a concurrency key, longest first. `review`: recovered as FAILED and not reviewed. `stopping`: asked to stop, longest first.
 */
export const runViews = ['newest', 'running', 'failed', 'waiting', 'review', 'stopping'] as const
export type RunViewName = (typeof runViews)[number]

export interface PageRequest {
  /** `next` of the previous page. */
  readonly cursor?: string
  readonly limit?: number
  readonly view?: RunViewName
  /** The most runs to read, whether they match or not. Default: 50 000; at most 1 000 000. */
  readonly look?: number
}
