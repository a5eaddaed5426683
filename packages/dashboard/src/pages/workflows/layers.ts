/**
 * Which layer of the graph each step is in. A step comes after all its parents, and a step without parents right before its first
 * child. An edge that passes layers gets a place in each of them, so that no box is put in its way.
 */
export type Pair = readonly [parent: string, child: string]

export interface Vertex {
  /** The step; undefined where an edge only passes. */
  readonly name: string | undefined
  readonly layer: number
  /** Places of the layers beside it that edges lead to. */
  readonly before: Vertex[]
  readonly after: Vertex[]
  /** Its middle, across the layers. */
  across: number
}

export interface Layered {
  readonly layers: Vertex[][]
  readonly placeOf: (name: string) => Vertex | undefined
  /** The places that an edge passes, from parent to child. */
  readonly passed: ReadonlyMap<Pair, readonly Vertex[]>
}

export function layersOf(names: readonly string[], pairs: readonly Pair[]): Layered {
  const layerOf = layerNumbers(names, pairs)
  const layers: Vertex[][] = []
  const place = (name: string | undefined, layer: number): Vertex => {
    const made: Vertex = { name, layer, before: [], after: [], across: 0 }
    ;(layers[layer] ??= []).push(made)
    return made
  }
  const places = new Map(names.map((name) => [name, place(name, layerOf.get(name) ?? 0)]))
  const passed = new Map<Pair, Vertex[]>()
  for (const pair of pairs) {
    const [parent, child] = [places.get(pair[0]), places.get(pair[1])]
    if (parent === undefined || child === undefined) continue
    const way: Vertex[] = []
    for (let layer = parent.layer + 1; layer < child.layer; layer++) way.push(place(undefined, layer))
    passed.set(pair, way)
    let last = parent
    for (const next of [...way, child]) {
      last.after.push(next)
      next.before.push(last)
      last = next
    }
  }
  return { layers, placeOf: (name) => places.get(name), passed }
}

function layerNumbers(names: readonly string[], pairs: readonly Pair[]): Map<string, number> {
  const [parents, children] = [Map.groupBy(pairs, ([, child]) => child), Map.groupBy(pairs, ([parent]) => parent)]
  const waiting = new Map(names.map((name) => [name, parents.get(name)?.length ?? 0]))
  const layers = new Map(names.map((name) => [name, 0]))
  const ready = names.filter((name) => waiting.get(name) === 0)
  for (const parent of ready) {
    const next = (layers.get(parent) ?? 0) + 1
    for (const [, child] of children.get(parent) ?? []) {
      layers.set(child, Math.max(next, layers.get(child) ?? 0))
      const left = (waiting.get(child) ?? 0) - 1
      waiting.set(child, left)
      if (left === 0) ready.push(child)
    }
  }
  for (const name of names) {
    const after = children.get(name)
    if (!parents.has(name) && after !== undefined)
      layers.set(name, Math.min(...after.map(([, child]) => layers.get(child) ?? 0)) - 1)
  }
  return layers
}
