/**
 * Lines over time in one or more panels, each with its own scale: a few failures vanish beside thousands of successes. Every
 * series has a dash pattern, the unfinished last point is dotted, and the same numbers are available as a table.
 */
import { useState, type PointerEvent, type ReactNode } from 'react'
import { hourMinute } from '../../words/times.ts'
import { PanelLines } from './panel.tsx'
import { durationScale, linearScale, type Scale } from './scale.ts'
import { useWidth } from './use-width.ts'

interface Series {
  readonly name: string
  /** The class that gives it colour and dash pattern. */
  readonly look: string
  readonly values: readonly (number | null)[]
  readonly area?: string
}

export interface Panel {
  readonly label: string
  readonly series: readonly Series[]
  readonly height: number
  /** Milliseconds, drawn on a logarithmic scale. */
  readonly isDuration?: boolean
  /** How far a linear scale reaches at least: small values would be drawn as large ones. */
  readonly least?: number
  /** Counts of things: the line in the middle of the scale is a whole number. */
  readonly whole?: boolean
  readonly format: (value: number) => string
  /** For the lines of the grid, if it differs. */
  readonly axis?: (value: number) => string
}

interface Props {
  readonly label: string
  readonly times: readonly number[]
  readonly panels: readonly Panel[]
  readonly isLastPartial: boolean
}

const left = 44
const right = 8
const between = 30
const first = 16

export function Chart({ label, times, panels, isLastPartial }: Props): ReactNode {
  const [box, width] = useWidth()
  const [over, setOver] = useState<number>()
  const inner = Math.max(50, width - left - right)
  const [from = 0, to = 1] = [times[0], times.at(-1)]
  const xAt = (time: number) => left + ((time - from) / Math.max(1, to - from)) * inner
  const x = (index: number) => xAt(times[index] ?? from)
  const placed = placePanels(panels)
  const last = placed.at(-1)
  const height = (last === undefined ? 0 : last.y + last.panel.height) + 22
  function point(event: PointerEvent<SVGSVGElement>): void {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const isOver = at >= left - right && at <= left + inner + right
    setOver(isOver ? nearest(times, from + ((at - left) / inner) * (to - from)) : undefined)
  }
  return (
    <div className="chartbox" ref={box}>
      <svg
        className="chart"
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={label}
        onPointerMove={point}
        onPointerLeave={() => setOver(undefined)}
      >
        {placed.map(({ panel, y, scale }) => (
          <PanelLines
            key={panel.label}
            panel={panel}
            scale={scale}
            x={x}
            y={y}
            left={left}
            right={left + inner}
            isLastPartial={isLastPartial}
            over={over}
          />
        ))}
        <TimeAxis from={from} to={to} x={xAt} y={height - 4} width={inner} />
        {over === undefined ? null : <path className="cross" d={`M${x(over)} 10V${height - 20}`} />}
      </svg>
      {over === undefined ? null : <Tip times={times} panels={panels} index={over} x={x(over)} width={width} />}
    </div>
  )
}

function nearest(times: readonly number[], time: number): number {
  const distance = (index: number) => Math.abs((times[index] ?? 0) - time)
  return times.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0)
}

interface PlacedPanel {
  readonly panel: Panel
  readonly y: number
  readonly scale: Scale
}

/** One below the other, each with the scale of its own values. */
function placePanels(panels: readonly Panel[]): PlacedPanel[] {
  const placed: PlacedPanel[] = []
  for (const panel of panels) {
    const above = placed.at(-1)
    const values = panel.series.flatMap(({ values: all }) => all.filter((value) => value !== null))
    const scale = panel.isDuration === true ? durationScale(values) : linearScale(values, panel.least, panel.whole)
    placed.push({ panel, scale, y: above === undefined ? first : above.y + above.panel.height + between })
  }
  return placed
}

function TimeAxis(props: {
  readonly from: number
  readonly to: number
  readonly x: (time: number) => number
  readonly y: number
  readonly width: number
}): ReactNode {
  const { from, to, x, y, width } = props
  const most = width > 480 ? 4 : 2
  const steps = Math.max(1, Math.min(most, Math.floor((to - from) / 60_000)))
  return Array.from({ length: steps + 1 }, (_, step) => from + ((to - from) * step) / steps).map((time, step) => (
    <text key={step} x={x(time)} y={y} textAnchor={step === 0 ? 'start' : step === steps ? 'end' : 'middle'}>
      {hourMinute(new Date(time))}
    </text>
  ))
}

interface TipProps {
  readonly times: readonly number[]
  readonly panels: readonly Panel[]
  readonly index: number
  readonly x: number
  readonly width: number
}

function Tip({ times, panels, index, x, width }: TipProps): ReactNode {
  const place = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 }
  return (
    <div className="tip" style={place} aria-hidden="true">
      <b>{hourMinute(new Date(times[index] ?? 0))}</b>
      <dl>
        {panels.flatMap(({ series, format }) =>
          series.map(({ name, values }) => {
            const value = values[index] ?? null
            return [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value === null ? '–' : format(value)}</dd>]
          }),
        )}
      </dl>
    </div>
  )
}
