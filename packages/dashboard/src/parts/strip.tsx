/**
 * The threads of a node as a row of cells; more than sixteen are drawn as narrower cells in two or four rows. Cells of one kind are one
 * path: 200 nodes with 64 threads each would be 12 800 elements.
 */
import { memo, type ReactNode } from 'react'
import type { Node } from '../api/contract.ts'

const perRow = 16

export const Strip = memo(function Strip({ node }: { readonly node: Node }): ReactNode {
  const cells = cellsOf(node)
  const rows = Math.ceil(cells.length / (cells.length > 32 ? 32 : perRow))
  const columns = Math.ceil(cells.length / rows)
  const [width, height] = rows === 1 ? [columns > 8 ? 5 : 7, 13] : [4, rows === 2 ? 7 : 5]
  const [dx, dy] = [width + (rows === 1 ? 3 : 2), height + 2]
  const r = rows === 1 ? 1.5 : 1
  const [across, down] = [width - 2 * r, height - 2 * r]
  const cell = (index: number) =>
    `M${(index % columns) * dx + 0.5 + r} ${Math.floor(index / columns) * dy + 0.5}h${across}a${r} ${r} 0 0 1 ${r} ${r}v${down}a${r} ${r} 0 0 1-${r} ${r}h-${across}a${r} ${r} 0 0 1-${r}-${r}v-${down}a${r} ${r} 0 0 1 ${r}-${r}z`
  return (
    <svg
      className="strip"
      width={columns * dx}
      height={rows * dy - 1}
      viewBox={`0 0 ${columns * dx} ${rows * dy - 1}`}
      aria-hidden="true"
    >
      {[...new Set(cells)].map((kind) => (
        <path key={kind} className={kind} d={cells.map((one, index) => (one === kind ? cell(index) : '')).join('')} />
      ))}
    </svg>
  )
})

/** u: used, st: stopping, x: closed to new runs, empty: free. */
function cellsOf(node: Node): string[] {
  if (node.state === 'stale') return Array.from({ length: node.slots }, () => 'x')
  const free = node.state === 'alive' ? '' : 'x'
  const known = node.threads.map(({ state }) => (state === 'running' ? 'u' : state === 'stopping' ? 'st' : free))
  const busy = Math.min(node.slots, node.slots - node.freeSlots)
  return node.slots === known.length || known.length > 0
    ? known
    : Array.from({ length: node.slots }, (_, index) => (index < busy ? 'u' : free))
}

/** The last report of a lost node is not its present state. */
export function busySlots(node: Node): number {
  if (node.state === 'stale') return 0
  return node.threads.length > 0
    ? node.threads.filter(({ state }) => state !== 'idle').length
    : node.slots - node.freeSlots
}

export interface SlotCounts {
  readonly busy: number
  readonly total: number
}

/** The slots of live nodes together. */
export function slotCountsOf(nodes: readonly Node[]): SlotCounts {
  const living = nodes.filter(({ state }) => state === 'alive' || state === 'draining')
  return {
    busy: living.reduce((sum, node) => sum + busySlots(node), 0),
    total: living.reduce((sum, node) => sum + node.slots, 0),
  }
}
