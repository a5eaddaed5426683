/**
 * Where the steps of a workflow are drawn: layers from left to right, or from top to bottom on a narrow screen. The items of a map
 * are one box with a count, so that a map over a thousand items stays readable. Pure.
 */
import type { TaskState } from '../../api/contract.ts'
import type { StepView } from '../../api/run-contract.ts'
import { placeAcross } from './across.ts'
import { layersOf, type Pair, type Vertex } from './layers.ts'
import { orderLayers } from './order.ts'

export interface Box {
  readonly name: string
  readonly step: StepView
  /** States of the items of a map; empty for other steps. */
  readonly items: Readonly<Partial<Record<TaskState, number>>>
  readonly x: number
  readonly y: number
}
export interface Edge {
  readonly from: string
  readonly to: string
  /** From the side of one box to the side of the other. */
  readonly path: string
}
export interface Layout {
  readonly boxes: readonly Box[]
  readonly edges: readonly Edge[]
  readonly width: number
  readonly height: number
}

export const boxSize = { width: 190, height: 58 } as const

/** Between two boxes of a layer, a box and an edge that passes, and two such edges. */
const gaps = { boxes: 22, mixed: 18, edges: 14 } as const
const margin = 16

export function layoutOf(steps: readonly StepView[], isNarrow: boolean): Layout {
  const own = steps.filter(({ kind }) => kind !== 'item')
  const names = new Set(own.map(({ name }) => name))
  const pairs: Pair[] = own.flatMap(({ name, parents }) =>
    parents.filter((parent) => names.has(parent)).map((parent) => [parent, name] as const),
  )
  const layered = layersOf([...names], pairs)
  orderLayers(layered)
  // Along the layers, and across them.
  const [deep, wide] = isNarrow ? [boxSize.height, boxSize.width] : [boxSize.width, boxSize.height]
  const step = deep + (isNarrow ? 36 : 56)
  placeAcross(layered.layers, (a, b) => {
    const boxes = Number(a.name !== undefined) + Number(b.name !== undefined)
    return (boxes / 2) * wide + (boxes === 2 ? gaps.boxes : boxes === 1 ? gaps.mixed : gaps.edges)
  })
  const pointOf = ({ layer, across }: Vertex): Point => ({
    along: margin + deep / 2 + layer * step,
    across: margin + wide / 2 + across,
  })
  const placed = (name: string): Point => {
    const place = layered.placeOf(name)
    return place === undefined ? { along: 0, across: 0 } : pointOf(place)
  }
  const length = 2 * margin + layered.layers.length * step - (step - deep)
  const breadth = 2 * margin + wide + Math.max(0, ...layered.layers.flat().map(({ across }) => across))
  return {
    width: isNarrow ? breadth : length,
    height: isNarrow ? length : breadth,
    boxes: own.map((one) => {
      const { along, across } = placed(one.name)
      const [x, y] = isNarrow ? [across, along] : [along, across]
      return {
        name: one.name,
        step: one,
        items: itemsOf(one, steps),
        x: x - boxSize.width / 2,
        y: y - boxSize.height / 2,
      }
    }),
    edges: pairs.map((pair) => {
      const [from, to] = pair
      const passed = (layered.passed.get(pair) ?? []).map(pointOf)
      return { from, to, path: edgePath([placed(from), ...passed, placed(to)], { deep, isNarrow }) }
    }),
  }
}

/** Before it is known whether the layers go to the right or down. */
interface Point {
  readonly along: number
  readonly across: number
}

/** Curves between the layers, and straight through those that the edge passes, beside their boxes. */
function edgePath(
  points: readonly Point[],
  { deep, isNarrow }: { readonly deep: number; readonly isNarrow: boolean },
): string {
  const at = (along: number, across: number) =>
    isNarrow ? `${round(across)} ${round(along)}` : `${round(along)} ${round(across)}`
  let path = ''
  for (const [index, { along, across }] of points.entries()) {
    const [into, out] = [along - deep / 2, along + deep / 2]
    const before = points[index - 1]
    if (before === undefined) {
      path += `M${at(out, across)}`
      continue
    }
    const middle = (before.along + deep / 2 + into) / 2
    path += `C${at(middle, before.across)} ${at(middle, across)} ${at(into, across)}`
    if (index < points.length - 1) path += `L${at(out, across)}`
  }
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** The same places with the states of now. */
export function withItems(drawn: Layout, steps: readonly StepView[]): Layout {
  const byName = new Map(steps.map((step) => [step.name, step]))
  const boxes = drawn.boxes.map((box) => {
    const step = byName.get(box.name) ?? box.step
    return { ...box, step, items: itemsOf(step, steps) }
  })
  return { ...drawn, boxes }
}

/** Items are called after their map: `resize[0]`, `resize[1]`, … */
function itemsOf(map: StepView, steps: readonly StepView[]): Partial<Record<TaskState, number>> {
  if (map.kind !== 'map') return {}
  const counts: Partial<Record<TaskState, number>> = {}
  for (const { kind, name, status } of steps)
    if (kind === 'item' && name.startsWith(`${map.name}[`)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
