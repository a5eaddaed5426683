/** The counts of one group of errors on one replica since its last flush, and the bound on the groups of one flush. Pure. */

export interface ErrorCount {
  readonly fingerprint: string
  readonly code: string
  /** Class of the error. */
  readonly name: string
  /** Text with placeholders for what differs from one error of the group to the next. */
  readonly message: string
  /** First frame that is not in a library. */
  readonly place: string | null
  readonly seen: number
  readonly lastRunId: string
  readonly tasks: readonly string[]
  /** The version of the replica that counted them. */
  readonly version: string
}

/** Groups that one flush names. The attempts of the others have their fingerprints and are counted as failed. */
const errorGroupsMax = 100

const namesMax = 20
const textMax = 300

/** The most frequent groups, each with bounded texts. */
export function boundErrors(errors: readonly ErrorCount[], most: number = errorGroupsMax): ErrorCount[] {
  const frequent = errors.length <= most ? errors : errors.toSorted((a, b) => b.seen - a.seen).slice(0, most)
  return frequent.map((error) => ({
    ...error,
    name: error.name.slice(0, textMax),
    message: error.message.slice(0, textMax),
    place: error.place?.slice(0, textMax) ?? null,
    tasks: error.tasks.slice(0, namesMax),
  }))
}
