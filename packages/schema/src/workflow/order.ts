/** The order in which a graph's steps can begin, or a cycle that makes it impossible, by its path. */

export interface Graph {
  /** In the order given. */
  readonly names: readonly string[]
  /** Known names only. */
  readonly parents: ReadonlyMap<string, readonly string[]>
}

export type Ordered = { readonly order: readonly string[] } | { readonly cycle: readonly string[] }

/** Parents before children; otherwise as they were given. */
export function orderOf(graph: Graph): Ordered {
  const children = new Map<string, string[]>()
  const open = new Map<string, number>()
  for (const name of graph.names) {
    const parents = graph.parents.get(name) ?? []
    open.set(name, parents.length)
    for (const parent of parents) {
      const known = children.get(parent)
      if (known === undefined) children.set(parent, [name])
      else known.push(name)
    }
  }
  const order = graph.names.filter((name) => open.get(name) === 0)
  for (let place = 0; place < order.length; place++) {
    for (const child of children.get(order[place] ?? '') ?? []) {
      const left = (open.get(child) ?? 0) - 1
      open.set(child, left)
      if (left === 0) order.push(child)
    }
  }
  return order.length === graph.names.length ? { order } : { cycle: cycleIn(graph, new Set(order)) }
}

/** Every step that was never reached has a parent that was not either: going up, one comes round. */
function cycleIn(graph: Graph, reached: ReadonlySet<string>): readonly string[] {
  const path = new Set<string>()
  let name = graph.names.find((candidate) => !reached.has(candidate)) ?? ''
  while (!path.has(name)) {
    path.add(name)
    name = graph.parents.get(name)?.find((parent) => !reached.has(parent)) ?? ''
  }
  const way = [...path]
  return [...way.slice(way.indexOf(name)), name].toReversed()
}
