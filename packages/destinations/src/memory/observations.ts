/**
 * Stores values as observations: JSON texts with a timestamp. A crash between "add the new one" and "remove the old
 * one" leaves both, so an entity's value is the observation with the greatest timestamp. Texts of other programs are
 * not changed.
 */

/** Undefined: q did not write the text. */
export function timestampOf(observation: string): number | undefined {
  try {
    const value: unknown = JSON.parse(observation)
    const timestamp: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'timestamp') : undefined
    return typeof timestamp === 'number' ? timestamp : undefined
  } catch {
    return undefined
  }
}

/** Sorts oldest first; texts without a timestamp come first. */
export function byTime(observations: Iterable<string>): readonly string[] {
  const timed = Array.from(observations, (text) => ({ text, at: timestampOf(text) ?? 0 }))
  return timed.toSorted((a, b) => a.at - b.at).map(({ text }) => text)
}

/** The newest `keep` values, and all texts of other programs. */
export function newestValues(observations: ReadonlySet<string>, keep: number): ReadonlySet<string> {
  const ours = byTime(observations.values().filter((text) => timestampOf(text) !== undefined))
  return observations.difference(new Set(ours.slice(0, Math.max(0, ours.length - keep))))
}
