/** The list that a run was opened from, so that its page can go to the next and the previous one. */
let ids: readonly string[] = []

export function rememberList(list: readonly string[]): void {
  ids = list
}

/** The runs before and after one in the list; undefined where it ends, or when the run is not in it. */
export function neighboursOf(id: string): { readonly previous: string | undefined; readonly next: string | undefined } {
  const at = ids.indexOf(id)
  return at < 0 ? { previous: undefined, next: undefined } : { previous: ids[at - 1], next: ids[at + 1] }
}
