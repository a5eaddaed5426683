/**
 * Lines over time in one or more panels, each with its own scale: a few failures vanish beside thousands of successes. Every
 * series has a dash pattern, the unfinished last point is dotted, and the same numbers are available as a table.
 */
import { useState, type PointerEvent, type ReactNode } from 'react'
import { hourMinute } from '../../words/times.ts'
import { PanelLines } from './panel.tsx'
import { durationScale, linearScale, type Scale } from './scale.ts'
import { useWidth } from './use-width.ts'

export interface Series {
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
  const x = (index: number) => left + (index / Math.max(1, times.length - 1)) * inner
  const placed = placePanels(panels)
  const last = placed.at(-1)
  const height = (last === undefined ? 0 : last.y + last.panel.height) + 22
  function point(event: PointerEvent<SVGSVGElement>): void {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const index = Math.round(((at - left) / inner) * (times.length - 1))
    setOver(index >= 0 && index < times.length ? index : undefined)
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
        <TimeAxis times={times} x={x} y={height - 4} width={inner} />
        {over === undefined ? null : <path className="cross" d={`M${x(over)} 10V${height - 20}`} />}
      </svg>
      {over === undefined ? null : <Tip times={times} panels={panels} index={over} x={x(over)} width={width} />}
    </div>
  )
}

interface Placed {
  readonly panel: Panel
  readonly y: number
  readonly scale: Scale
}

/** One below the other, each with the scale of its own values. */
function placePanels(panels: readonly Panel[]): Placed[] {
  const placed: Placed[] = []
  for (const panel of panels) {
    const above = placed.at(-1)
    const values = panel.series.flatMap(({ values: all }) => all.filter((value) => value !== null))
    const scale = panel.isDuration === true ? durationScale(values) : linearScale(values)
    placed.push({ panel, scale, y: above === undefined ? first : above.y + above.panel.height + between })
  }
  return placed
}

function TimeAxis(props: {
  readonly times: readonly number[]
  readonly x: (index: number) => number
  readonly y: number
  readonly width: number
}): ReactNode {
  const { times, x, y, width } = props
  const labels = width > 480 ? 5 : 3
  const last = times.length - 1
  return Array.from({ length: labels }, (_, step) => Math.round((step / (labels - 1)) * last)).map((index, step) => (
    <text key={step} x={x(index)} y={y} textAnchor={step === 0 ? 'start' : step === labels - 1 ? 'end' : 'middle'}>
      {hourMinute(new Date(times[index] ?? 0))}
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
