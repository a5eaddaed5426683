/** Finds the order in which the steps of a graph can start, or the path of a cycle that prevents it. */

interface Graph {
  /** The names in the given order. */
  readonly names: readonly string[]
  /** Returns known names only. */
  readonly parents: ReadonlyMap<string, readonly string[]>
}

export type OrderResult = { readonly order: readonly string[] } | { readonly cycle: readonly string[] }

/** Returns parents before children, and otherwise keeps the given order. */
export function orderOf(graph: Graph): OrderResult {
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
  for (let index = 0; index < order.length; index++) {
    for (const child of children.get(order[index] ?? '') ?? []) {
      const left = (open.get(child) ?? 0) - 1
      open.set(child, left)
      if (left === 0) order.push(child)
    }
  }
  return order.length === graph.names.length ? { order } : { cycle: cycleIn(graph, new Set(order)) }
}

/** Every unreached step has an unreached parent, so following the parents leads into a cycle. */
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
