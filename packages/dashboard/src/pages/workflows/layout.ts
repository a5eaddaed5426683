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
  readonly points: readonly { readonly x: number; readonly y: number }[]
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
  return {
    width,
    height,
    boxes: own.map((step) => ({
      name: step.name,
      step,
      items: itemsOf(step, steps),
      x: graph.node(step.name).x - boxSize.width / 2,
      y: graph.node(step.name).y - boxSize.height / 2,
    })),
    edges: pairs.map(([from, to]) => ({ from, to, points: graph.edge(from, to).points ?? [] })),
  }
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
