/**
 * Items by key, each with the revision of its last change, from which the difference to any earlier revision follows.
 */
export interface Keyed<Item> {
  /** Whether anything changed. */
  update(items: readonly Item[], revision: number): boolean
  since(revision: number): { readonly changed: Item[]; readonly gone: string[] }
}

const goneMax = 1_000

export function createKeyed<Item>(keyOf: (item: Item) => string, isSame: (a: Item, b: Item) => boolean): Keyed<Item> {
  const present = new Map<string, { item: Item; revision: number }>()
  const gone = new Map<string, number>()
  return {
    update(items, revision) {
      let changes = 0
      for (const item of items) {
        const known = present.get(keyOf(item))
        gone.delete(keyOf(item))
        if (known !== undefined && isSame(known.item, item)) continue
        present.set(keyOf(item), { item, revision })
        changes += 1
      }
      const keys = new Set(items.map(keyOf))
      for (const key of present.keys()) {
        if (keys.has(key)) continue
        present.delete(key)
        gone.set(key, revision)
        changes += 1
      }
      for (const key of gone.keys()) if (gone.size > goneMax) gone.delete(key)
      return changes > 0
    },
    since: (revision) => ({
      changed: [...present.values()].filter((known) => known.revision > revision).map(({ item }) => item),
      gone: [...gone].filter(([, at]) => at > revision).map(([key]) => key),
    }),
  }
}
