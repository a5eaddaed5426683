/**
 * The order of the places within each layer: few edges cross, and where it makes no difference the steps keep the order in which the
 * workflow declares them. Each sweep puts a place at the mean of its neighbours in the layer before, or after; the best order counts.
 */
import type { Layered, Vertex } from './layers.ts'

const sweepsMax = 12

export function orderLayers({ layers }: Pick<Layered, 'layers'>): void {
  const index = new Map<Vertex, number>()
  const number = () => layers.forEach((layer) => layer.forEach((place, at) => index.set(place, at)))
  number()
  let best = { crossings: crossingsOf(layers, index), layers: layers.map((layer) => [...layer]) }
  for (let sweep = 0; sweep < sweepsMax && best.crossings > 0; sweep++) {
    const side = sweep % 2 === 0 ? 'before' : 'after'
    for (const layer of side === 'before' ? layers : layers.toReversed()) {
      const aim = new Map(layer.map((place) => [place, mean(place[side], index) ?? index.get(place) ?? 0]))
      layer.sort((a, b) => (aim.get(a) ?? 0) - (aim.get(b) ?? 0))
      layer.forEach((place, at) => index.set(place, at))
    }
    const crossings = crossingsOf(layers, index)
    if (crossings < best.crossings) best = { crossings, layers: layers.map((layer) => [...layer]) }
  }
  layers.splice(0, layers.length, ...best.layers)
}

function mean(of: readonly Vertex[], index: ReadonlyMap<Vertex, number>): number | undefined {
  if (of.length === 0) return undefined
  return of.reduce((sum, place) => sum + (index.get(place) ?? 0), 0) / of.length
}

/** Two edges between the same layers cross when their ends are in the opposite order of their beginnings. */
function crossingsOf(layers: readonly (readonly Vertex[])[], index: ReadonlyMap<Vertex, number>): number {
  let crossings = 0
  for (const layer of layers) {
    const seen: number[] = []
    for (const { after } of layer) {
      const ends = after.map((place) => index.get(place) ?? 0)
      for (const end of ends) crossings += seen.length - firstAbove(seen, end)
      for (const end of ends) seen.splice(firstAbove(seen, end), 0, end)
    }
  }
  return crossings
}

function firstAbove(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) > value) high = middle
    else low = middle + 1
  }
  return low
}
