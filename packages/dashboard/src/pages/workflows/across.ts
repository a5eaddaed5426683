/**
 * Where the places of each layer are, across the layers: as near to the mean of their neighbours as their order and the gaps allow.
 * An edge that passes several layers is pulled straight before the boxes are.
 */
import type { Vertex } from './layers.ts'

const rounds = 10
/** How hard the ends of an edge pull at each other; more for a place where an edge only passes. */
const pull = { box: 1, mixed: 2, passing: 8 } as const

interface Block {
  readonly from: number
  places: number
  weight: number
  /** Where its first place should be. */
  aim: number
}

/** `room(a, b)`: how far the middles of two neighbours in a layer must be apart. */
export function placeAcross(layers: readonly (readonly Vertex[])[], room: (a: Vertex, b: Vertex) => number): void {
  for (const layer of layers) settle(layer, room, () => ({ aim: 0, weight: 1 }))
  for (let round = 0; round < rounds; round++) {
    for (const layer of layers) settle(layer, room, (place) => aimOf(place, place.before))
    for (const layer of layers.toReversed()) settle(layer, room, (place) => aimOf(place, place.after))
  }
  for (const layer of layers) settle(layer, room, (place) => aimOf(place, [...place.before, ...place.after]))
  const least = Math.min(...layers.flat().map(({ across }) => across))
  for (const place of layers.flat()) place.across -= least
}

interface Aim {
  readonly aim: number
  readonly weight: number
}

function aimOf(place: Vertex, neighbours: readonly Vertex[]): Aim {
  if (neighbours.length === 0) return { aim: place.across, weight: 0.1 }
  let [sum, weight] = [0, 0]
  for (const neighbour of neighbours) {
    const passing = Number(place.name === undefined) + Number(neighbour.name === undefined)
    const own = passing === 2 ? pull.passing : passing === 1 ? pull.mixed : pull.box
    sum += own * neighbour.across
    weight += own
  }
  return { aim: sum / weight, weight }
}

/** Least squares under the order and the gaps: neighbours that would overlap become one block, which goes to their mean. */
function settle(layer: readonly Vertex[], room: (a: Vertex, b: Vertex) => number, ask: (place: Vertex) => Aim): void {
  const offsets: number[] = []
  const blocks: Block[] = []
  for (const [at, place] of layer.entries()) {
    const previous = layer[at - 1]
    offsets.push(previous === undefined ? 0 : (offsets[at - 1] ?? 0) + room(previous, place))
    const { aim, weight } = ask(place)
    blocks.push({ from: at, places: 1, weight, aim: aim - (offsets[at] ?? 0) })
    joinOverlapping(blocks)
  }
  for (const { from, places, aim } of blocks)
    for (let at = from; at < from + places; at++) {
      const place = layer[at]
      if (place !== undefined) place.across = aim + (offsets[at] ?? 0)
    }
}

function joinOverlapping(blocks: Block[]): void {
  for (;;) {
    const [one, next] = [blocks.at(-2), blocks.at(-1)]
    if (one === undefined || next === undefined || one.aim <= next.aim) return
    const weight = one.weight + next.weight
    one.aim = (one.aim * one.weight + next.aim * next.weight) / weight
    one.places += next.places
    one.weight = weight
    blocks.pop()
  }
}
