/** The counts of one group of errors on one replica since its last flush, and the bound on the groups of one flush. Pure. */
import { storableText } from '@q/schema/json'

export interface ErrorCount {
  readonly fingerprint: string
  readonly code: string
  /** Class of the error. */
  readonly name: string
  /** The text, with placeholders for the parts that differ between errors of the group. */
  readonly message: string
  /** The first frame outside of libraries. */
  readonly place: string | null
  readonly seen: number
  readonly lastRunId: string
  readonly tasks: readonly string[]
  /** The version of the replica that counted them. */
  readonly version: string
}

/** The most groups in one flush. Attempts of other groups keep their fingerprints and count as failed. */
const errorGroupsMax = 100

const namesMax = 20
const textMax = 300

/** Returns the most frequent groups, with bounded texts. */
export function boundErrors(errors: readonly ErrorCount[], most: number = errorGroupsMax): ErrorCount[] {
  const frequent = errors.length <= most ? errors : errors.toSorted((a, b) => b.seen - a.seen).slice(0, most)
  return frequent.map((error) => ({
    ...error,
    name: cut(error.name),
    message: cut(error.message),
    place: error.place === null ? null : cut(error.place),
    tasks: error.tasks.slice(0, namesMax),
  }))
}

function cut(text: string): string {
  return storableText(text.slice(0, textMax))
}
