/** One panel of a chart: its grid, its labels and its lines. */
import type { ReactNode } from 'react'
import type { Panel } from './chart.tsx'
import { linePath, type Scale } from './scale.ts'

interface Props {
  readonly panel: Panel
  readonly scale: Scale
  readonly x: (index: number) => number
  readonly y: number
  readonly left: number
  readonly right: number
  readonly isLastPartial: boolean
  readonly over: number | undefined
}

type Point = readonly [x: number, y: number]

export function PanelLines({ panel, scale, x, y, left, right, isLastPartial, over }: Props): ReactNode {
  const height = (value: number) => y + panel.height * (1 - scale.place(value))
  return (
    <>
      <text className="lab" x={left} y={y - 6}>
        {panel.label}
      </text>
      {scale.ticks.map((tick, index) => (
        <g key={tick}>
          <path className={index === 0 ? 'axis' : 'grid'} d={`M${left} ${height(tick)}H${right}`} />
          <text x={left - 6} y={height(tick) + 4} textAnchor="end">
            {(panel.axis ?? panel.format)(tick)}
          </text>
        </g>
      ))}
      {panel.series.map(({ name, look, values, area }) => {
        const points = values.map((value, index): Point | null => (value === null ? null : [x(index), height(value)]))
        const whole = isLastPartial ? points.slice(0, -1) : points
        const dotted = isLastPartial ? points.slice(-2) : []
        const hovered = over === undefined ? null : (points[over] ?? null)
        return (
          <g key={name}>
            {area === undefined ? null : <path className={`area ${area}`} d={areaPath(points, y + panel.height)} />}
            <path className={`ln ${look}`} d={linePath(whole)} />
            <path className={`ln ${look} now`} d={linePath(dotted)} />
            {hovered === null ? null : <circle className={`dot ${look}`} cx={hovered[0]} cy={hovered[1]} r="3" />}
          </g>
        )
      })}
    </>
  )
}

/** One closed shape for each stretch without a gap. */
function areaPath(points: readonly (Point | null)[], bottom: number): string {
  const stretches: Point[][] = [[]]
  for (const point of points)
    if (point === null) stretches.push([])
    else stretches.at(-1)?.push(point)
  return stretches
    .filter(({ length }) => length > 1)
    .map((drawn) => `${linePath(drawn)}L${drawn.at(-1)?.[0]} ${bottom}L${drawn[0]?.[0]} ${bottom}Z`)
    .join('')
}
