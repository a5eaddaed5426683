/** Selecting rows, alone or from one to another. Pure. */
export function toggledRange(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  from: number,
  to: number,
): Set<string> {
  const range = ids.slice(Math.min(from, to), Math.max(from, to) + 1)
  const next = new Set(selected)
  const isAdding = from !== to || !next.has(ids[to] ?? '')
  for (const id of range) {
    if (isAdding) next.add(id)
    else next.delete(id)
  }
  return next
}
