/**
 * Finds the name that a person probably meant: the one with the fewest differing letters, if they are few enough for a
 * typing error.
 */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  if (wrong.length < 2) return undefined
  const ranked = names
    .map((name) => ({ name, edits: edits(wrong.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best !== undefined && best.edits <= Math.max(2, Math.floor(wrong.length / 3)) ? best.name : undefined
}

/** Levenshtein distance. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
