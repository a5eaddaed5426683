/** The graph of a workflow: drawn once by its edges, coloured live by its steps; it can be moved and zoomed. */
import { useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { StepView } from '../../api/run-contract.ts'
import { useNow } from '../../live/use-now.ts'
import { toneOf } from '../../parts/badge.tsx'
import { useWidth } from '../../parts/chart/use-width.ts'
import { glyphShapes } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { duration } from '../../words/durations.ts'
import { criticalPath } from './critical-path.ts'
import { type Box, boxSize, type Edge, type Layout, layoutOf, withItems } from './layout.ts'
import { usePanZoom } from './use-pan-zoom.ts'

export function WorkflowGraph({
  steps,
  ended,
}: {
  readonly steps: readonly StepView[]
  readonly ended: boolean
}): ReactNode {
  const now = useNow()
  const [box, width] = useWidth()
  const layout = useLayout(steps, width < narrowBelow)
  const byName = new Map(steps.map((step) => [step.name, step]))
  const critical =
    ended || steps.some(({ finishedAt }) => finishedAt !== null) ? criticalPath(steps, now) : new Set<string>()
  const { ref, viewBox, handlers, zoom, fit } = usePanZoom(layout, width)
  return (
    <div
      className="graphbox"
      ref={box}
      style={{ height: `clamp(240px, ${Math.round(layout.height) + around(width)}px, 64vh)` }}
    >
      <svg ref={ref} viewBox={viewBox} {...handlers} role="group" aria-label="Steps as a graph">
        <g aria-hidden="true">
          {layout.edges.map((edge) => (
            <EdgeLine
              key={`${edge.from} ${edge.to}`}
              edge={edge}
              parent={byName.get(edge.from)}
              isCritical={critical.has(edge.from) && critical.has(edge.to)}
            />
          ))}
        </g>
        {layout.boxes.map((one) => (
          <StepBox
            key={one.name}
            box={{ ...one, step: byName.get(one.name) ?? one.step }}
            isCritical={critical.has(one.name)}
            now={now}
          />
        ))}
      </svg>
      <div className="zoom">
        <button type="button" className="btn ico" aria-label="Zoom in" onClick={() => zoom(0.8)}>
          <Icon name="plus" />
        </button>
        <button type="button" className="btn ico" aria-label="Zoom out" onClick={() => zoom(1.25)}>
          <Icon name="minus" />
        </button>
        <button type="button" className="btn ico" aria-label="Fit to the window" onClick={fit}>
          <Icon name="fit" />
        </button>
      </div>
    </div>
  )
}

const narrowBelow = 640

/** The room above and below the drawing: on a narrow screen the buttons of the zoom stand under it. */
function around(width: number): number {
  return width < narrowBelow ? 128 : 48
}

/** Laid out again when the graph changes, not when a state does. */
function useLayout(steps: readonly StepView[], isNarrow: boolean): Layout {
  const shape = steps.map(({ name, kind, parents }) => (kind === 'item' ? '' : `${name}<${parents.join()}`)).join()
  const [last, setLast] = useState(() => ({ shape, isNarrow, layout: fittingLayout(steps, isNarrow) }))
  if (last.shape === shape && last.isNarrow === isNarrow) return withItems(last.layout, steps)
  const layout = fittingLayout(steps, isNarrow)
  setLast({ shape, isNarrow, layout })
  return layout
}

/** On a narrow screen the layers go down, unless the steps of one layer are wider than the layers beside each other are. */
function fittingLayout(steps: readonly StepView[], isNarrow: boolean): Layout {
  const across = layoutOf(steps, false)
  if (!isNarrow) return across
  const down = layoutOf(steps, true)
  return down.width <= across.width ? down : across
}

function EdgeLine({
  edge,
  parent,
  isCritical,
}: {
  readonly edge: Edge
  readonly parent: StepView | undefined
  readonly isCritical: boolean
}): ReactNode {
  const look = parent?.status === 'SUCCEEDED' ? 'done' : 'waits'
  return <path className={`edge ${look}${isCritical ? ' critical' : ''}`} d={edge.path} />
}

function StepBox({
  box,
  isCritical,
  now,
}: {
  readonly box: Box
  readonly isCritical: boolean
  readonly now: number
}): ReactNode {
  const [, navigate] = useLocation()
  const { step } = box
  const tone = toneOf(step.status)
  const open = () => navigate(step.subWorkflowId === null ? `/runs/${step.runId}` : `/workflows/${step.subWorkflowId}`)
  return (
    <g
      className={`step ${tone}`}
      transform={`translate(${box.x} ${box.y})`}
      role="link"
      tabIndex={0}
      cursor="pointer"
      onClick={open}
      onKeyDown={(event) => event.key === 'Enter' && open()}
    >
      {isCritical ? <desc>on the critical path</desc> : null}
      <rect width={boxSize.width} height={boxSize.height} rx="6" />
      <path
        className="tint"
        d={`M6 .5H4V${boxSize.height - 0.5}H6A5.5 5.5 0 0 1 .5 ${boxSize.height - 6}V6A5.5 5.5 0 0 1 6 .5Z`}
      />
      {isCritical ? (
        <rect className="crit" x=".5" y=".5" width={boxSize.width - 1} height={boxSize.height - 1} rx="6" />
      ) : null}
      <text className="nm" x="14" y="22">
        {cut(step.name, 22)}
      </text>
      <g className="glyph" transform="translate(14 33)">
        {glyphShapes(tone)}
      </g>
      <text className="st" x="31" y="43">
        {step.status}
      </text>
      <text className="tk" x={boxSize.width - 12} y="43" textAnchor="end">
        {aside(box, now)}
      </text>
    </g>
  )
}

function aside({ step, items }: Box, now: number): string {
  const all = Object.values(items).reduce((sum, count) => sum + count, 0)
  if (all > 0) return `${items.SUCCEEDED ?? 0}/${all}`
  if (step.code !== null) return cut(step.code, 14)
  if (step.startedAt === null) return step.waitingOn > 0 ? `${step.waitingOn} open` : ''
  return duration((step.finishedAt === null ? now : Date.parse(step.finishedAt)) - Date.parse(step.startedAt))
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
