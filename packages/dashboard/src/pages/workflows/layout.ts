/**
 * Where the steps of a workflow are drawn: layers from left to right, or from top to bottom on a narrow screen. The items of a map
 * are one box with a count, so that a map over a thousand items stays readable. Pure.
 */
import { graphlib, layout } from '@dagrejs/dagre'
import type { TaskState } from '../../api/contract.ts'
import type { Step } from '../../api/run-contract.ts'

export interface Box {
  readonly name: string
  readonly step: Step
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

export function layoutOf(steps: readonly Step[], isNarrow: boolean): Layout {
  const graph = new graphlib.Graph()
  graph.setGraph({
    rankdir: isNarrow ? 'TB' : 'LR',
    nodesep: 22,
    ranksep: isNarrow ? 36 : 56,
    marginx: 16,
    marginy: 16,
  })
  graph.setDefaultEdgeLabel(() => ({}))
  const own = steps.filter(({ kind }) => kind !== 'item')
  const names = new Set(own.map(({ name }) => name))
  for (const { name } of own) graph.setNode(name, { ...boxSize })
  const pairs = own.flatMap(({ name, parents }) =>
    parents.filter((parent) => names.has(parent)).map((parent) => [parent, name] as const),
  )
  for (const [parent, name] of pairs) graph.setEdge(parent, name)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  const isFlipped = runsBackwards(own, (name) => graph.node(name), isNarrow)
  const placed = ({ x, y }: Point): Point =>
    !isFlipped ? { x, y } : isNarrow ? { x: width - x, y } : { x, y: height - y }
  const placeOf = (name: string) => placed(graph.node(name))
  return {
    width,
    height,
    boxes: own.map((step) => ({
      name: step.name,
      step,
      items: itemsOf(step, steps),
      x: placeOf(step.name).x - boxSize.width / 2,
      y: placeOf(step.name).y - boxSize.height / 2,
    })),
    edges: pairs.map(([from, to]) => {
      const between = (graph.edge(from, to).points ?? []).slice(1, -1).map(placed)
      return { from, to, path: edgePath(placeOf(from), placeOf(to), { between, isNarrow }) }
    }),
  }
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Whether steps of one layer are drawn against the order in which the workflow declares them. */
function runsBackwards(own: readonly Step[], placeOf: (name: string) => Point, isNarrow: boolean): boolean {
  let [forwards, backwards] = [0, 0]
  for (const [index, { name }] of own.entries()) {
    const [one, next] = [placeOf(name), own[index + 1]]
    if (next === undefined) break
    const other = placeOf(next.name)
    const [layer, order] = isNarrow ? [other.y - one.y, other.x - one.x] : [other.x - one.x, other.y - one.y]
    if (layer === 0 && order > 0) forwards += 1
    if (layer === 0 && order < 0) backwards += 1
  }
  return backwards > forwards
}

/**
 * Leaves a box in the middle of its side and reaches the next one the same way. An edge that passes other layers follows the points that
 * keep it clear of their boxes.
 */
function edgePath(
  from: Point,
  to: Point,
  { between, isNarrow }: { between: readonly Point[]; isNarrow: boolean },
): string {
  const start = isNarrow ? { x: from.x, y: from.y + boxSize.height / 2 } : { x: from.x + boxSize.width / 2, y: from.y }
  const end = isNarrow ? { x: to.x, y: to.y - boxSize.height / 2 } : { x: to.x - boxSize.width / 2, y: to.y }
  const passed = between.length > 2 ? between.slice(1, -1) : []
  let before = start
  let path = `M${start.x} ${start.y}`
  for (const point of [...passed, end]) {
    const middle = isNarrow ? (before.y + point.y) / 2 : (before.x + point.x) / 2
    path += isNarrow
      ? `C${before.x} ${middle} ${point.x} ${middle} ${point.x} ${point.y}`
      : `C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`
    before = point
  }
  return path
}

/** The same places with the states of now. */
export function withItems(drawn: Layout, steps: readonly Step[]): Layout {
  const byName = new Map(steps.map((step) => [step.name, step]))
  const boxes = drawn.boxes.map((box) => {
    const step = byName.get(box.name) ?? box.step
    return { ...box, step, items: itemsOf(step, steps) }
  })
  return { ...drawn, boxes }
}

/** Items are called after their map: `resize[0]`, `resize[1]`, … */
function itemsOf(map: Step, steps: readonly Step[]): Partial<Record<TaskState, number>> {
  if (map.kind !== 'map') return {}
  const counts: Partial<Record<TaskState, number>> = {}
  for (const { kind, name, status } of steps)
    if (kind === 'item' && name.startsWith(`${map.name}[`)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
