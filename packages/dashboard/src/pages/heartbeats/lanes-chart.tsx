/** Draws the lanes. Lanes that are the same node name, one boot after the other, stand below each other. */
import { memo, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { HeartbeatLane } from '../../api/contract.ts'
import { useWidth } from '../../parts/chart/use-width.ts'
import { glyphShapes } from '../../parts/glyph.tsx'
import { compareNames, shortId } from '../../parts/node-name.tsx'
import { duration } from '../../words/durations.ts'
import { several } from '../../words/numbers.ts'
import { hourMinute } from '../../words/times.ts'
import { markLooks } from './mark-looks.ts'
import { type PlacedLane, placedLanes } from './lane-geometry.ts'

interface Props {
  readonly lanes: readonly HeartbeatLane[]
  readonly from: number
  readonly to: number
}

const rowHeight = 30
const top = 20

export function LanesChart({ lanes, from, to }: Props): ReactNode {
  const [box, width] = useWidth()
  const isNarrow = width < 560
  const left = isNarrow ? 0 : 132
  const step = isNarrow ? rowHeight + 16 : rowHeight
  const ordered = lanes.toSorted((a, b) => compareNames(a.name, b.name) || compareNames(a.from, b.from))
  const placed = placedLanes(ordered, { from, to, left, width: width - left - 2 })
  const height = top + lanes.length * step + 4
  const ticks = isNarrow ? 2 : 5
  return (
    <div ref={box}>
      <svg
        className="lanes"
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label="Lanes of nodes"
      >
        {Array.from({ length: ticks + 1 }, (_, index) => {
          const x = left + ((width - left - 2) * index) / ticks
          return (
            <g key={index} aria-hidden="true">
              <path className="grid" d={`M${x} 14V${height}`} />
              <text x={x} y="10" textAnchor={index === 0 ? 'start' : index === ticks ? 'end' : 'middle'}>
                {hourMinute(new Date(from + ((to - from) * index) / ticks))}
              </text>
            </g>
          )
        })}
        {placed.map((one, index) => (
          <Lane
            key={one.lane.replicaId}
            placed={one}
            y={top + index * step + (isNarrow ? 16 : 0)}
            isNarrow={isNarrow}
          />
        ))}
      </svg>
    </div>
  )
}

const Lane = memo(function Lane({
  placed,
  y,
  isNarrow,
}: {
  readonly placed: PlacedLane
  readonly y: number
  readonly isNarrow: boolean
}): ReactNode {
  const { lane, span, gaps, marks } = placed
  const tone = lane.state === 'stale' ? 'lost' : lane.state
  const summary = `${lane.name}, ${tone}, ${several(gaps.length, 'gap')}, ${several(marks.length, 'mark')}`
  return (
    <g>
      <Link href={`/nodes/${encodeURIComponent(lane.replicaId)}`} aria-label={lane.name}>
        <text className="name" x="0" y={isNarrow ? y - 3 : y + 15}>
          {lane.name}
        </text>
      </Link>
      <text x={isNarrow ? lane.name.length * 7 + 8 : 96} y={isNarrow ? y - 3 : y + 15}>
        {shortId({ id: lane.replicaId, name: lane.name })}
      </text>
      <g role="img" aria-label={summary}>
        <rect className={`lane ${tone}`} x={span.x} y={y + 4} width={span.width} height="14" rx="3" />
        {gaps.map((gap) => (
          <rect
            key={gap.x}
            className={gap.isStale ? 'hole' : 'hole small-hole'}
            x={gap.x}
            y={y + 3}
            width={gap.width}
            height="16"
          >
            <title>no heartbeat for {duration(gap.ms)}</title>
          </rect>
        ))}
        {marks.map(({ x, mark }, index) => (
          <g key={index} className={`m ${markLooks[mark.kind].tone}`} transform={`translate(${x - 7} ${y + 4})`}>
            <rect width="14" height="14" rx="7" />
            <g transform="translate(1 1)">{glyphShapes(markLooks[mark.kind].glyph)}</g>
            <title>{mark.text}</title>
          </g>
        ))}
      </g>
    </g>
  )
})
