/** Draws the waterfall: one row per attempt, the words in the bars where they have room. */
import type { ReactNode } from 'react'
import type { RunDetail } from '../../api/run-contract.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { useWidth } from '../../parts/chart/use-width.ts'
import { duration } from '../../words/durations.ts'
import { clockTime } from '../../words/times.ts'
import { type WaterfallBar, type BarKind, roundTimes, type Row, waterfallOf } from './waterfall.ts'

const looks: Readonly<Record<BarKind, { readonly bar: string; readonly text: string; readonly word: string }>> = {
  gate: { bar: 'gate', text: 'gatet', word: 'held back' },
  ready: { bar: 'ready', text: 'ont', word: 'ready' },
  claimed: { bar: 'claimed-bar', text: 'ont', word: 'claimed' },
  running: { bar: 'run', text: 'on', word: 'running' },
  succeeded: { bar: 'succeeded-bar', text: 'on', word: 'succeeded' },
  failed: { bar: 'failed-bar', text: 'on', word: 'failed' },
  lost: { bar: 'lost-bar', text: 'on', word: 'lost' },
  quiet: { bar: 'quiet-bar', text: 'on', word: 'stopped' },
}

const rowHeight = 30
const rowsMax = 40

export function WaterfallCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const now = useNow()
  const [box, width] = useWidth()
  const fall = waterfallOf(detail, now)
  const rows = fall.rows.slice(-rowsMax)
  const left = width < 520 ? 0 : 128
  const top = 26
  const lift = width < 520 ? 16 : 0
  const height = top + rows.length * (rowHeight + lift) + (fall.marks.length > 0 ? 12 : 0)
  const x = (at: number) => left + ((at - fall.from) / (fall.to - fall.from)) * (width - left - 1)
  const used = new Set(rows.flatMap(({ bars }) => bars.map(({ kind }) => kind)))
  const total = duration(fall.to - fall.from)
  const spoken = rows
    .map(
      ({ label, node, bars }) =>
        `${label}${node === null ? '' : ` on ${node}`}: ${bars.map((bar) => `${looks[bar.kind].word} ${duration(bar.to - bar.from)}`).join(', ')}`,
    )
    .join('; ')
  return (
    <Card title="Waterfall" sub={<span className="only-l">{total} since enqueue</span>} end={<Legend kinds={used} />}>
      <div className="pad">
        <div ref={box}>
          <svg
            className="wf"
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={`Waterfall, ${total}. ${spoken}`}
          >
            <Grid from={fall.from} to={fall.to} x={x} height={height} width={width - left} />
            {rows.map((row, index) => (
              <RowBars
                key={index}
                row={row}
                x={x}
                y={top + index * (rowHeight + lift) + lift}
                left={left}
                width={width}
              />
            ))}
            {fall.marks.map(({ at, words }, index) => (
              <g key={index}>
                <path className="mark" d={`M${x(at)} ${height - 16}v8`} />
                <text x={x(at) + 5} y={height - 5}>
                  {words}
                </text>
              </g>
            ))}
          </svg>
        </div>
      </div>
    </Card>
  )
}

function Grid(props: {
  readonly from: number
  readonly to: number
  readonly x: (at: number) => number
  readonly height: number
  readonly width: number
}): ReactNode {
  const { from, to, x, height, width } = props
  const inner = roundTimes(to - from, width > 480 ? 5 : 2).map((ms) => from + ms)
  /** For half of a label and a time at the edge. */
  const room = 100
  return [from, ...inner, to].map((at, index, all) => {
    const isEdge = index === 0 || index === all.length - 1
    const isShown = isEdge || (x(at) - x(from) > room && x(to) - x(at) > room)
    const anchor = index === 0 ? 'start' : isEdge ? 'end' : 'middle'
    return (
      <g key={at}>
        <path className="grid" d={`M${x(at)} 18V${height}`} />
        {isShown ? (
          <text x={x(at)} y="10" textAnchor={anchor}>
            {isEdge ? clockTime(new Date(at)) : `+${duration(at - from)}`}
          </text>
        ) : null}
      </g>
    )
  })
}

interface RowProps {
  readonly row: Row
  readonly x: (at: number) => number
  readonly y: number
  readonly left: number
  readonly width: number
}

function RowBars({ row, x, y, left, width }: RowProps): ReactNode {
  const last = row.bars.at(-1)
  return (
    <g>
      {left === 0 ? (
        <text x="0" y={y - 5}>
          {row.label} {row.node}
        </text>
      ) : (
        <text className="t" x="0" y={y + 13}>
          {row.label} <tspan className="node">{row.node}</tspan>
        </text>
      )}
      {row.bars.map((bar) => (
        <BarShape key={`${bar.kind} ${bar.from}`} bar={bar} from={x(bar.from)} to={x(bar.to)} y={y} />
      ))}
      {last?.kind === 'lost' && x(last.to) < width - 150 ? (
        <text x={x(last.to) + 6} y={y + 13}>
          lost, {duration(last.to - last.from)} to recover
        </text>
      ) : null}
    </g>
  )
}

function BarShape({
  bar,
  from,
  to,
  y,
}: {
  readonly bar: WaterfallBar
  readonly from: number
  readonly to: number
  readonly y: number
}): ReactNode {
  const { bar: look, text, word } = looks[bar.kind]
  const width = Math.max(2, to - from - 1)
  const took = duration(bar.to - bar.from)
  const words =
    width > 7 * (word.length + took.length + 2) ? `${word} ${took}` : width > 7 * (took.length + 1) ? took : ''
  return (
    <>
      <rect className={look} x={from + 0.5} y={y} width={width} height="18" rx="3">
        <title>
          {word} {took}
        </title>
      </rect>
      {words === '' || bar.kind === 'lost' ? null : (
        <text className={text} x={from + 6.5} y={y + 13}>
          {words}
        </text>
      )}
    </>
  )
}

function Legend({ kinds }: { readonly kinds: ReadonlySet<BarKind> }): ReactNode {
  return (
    <span className="legend">
      {(Object.keys(looks) as BarKind[])
        .filter((kind) => kinds.has(kind))
        .map((kind) => (
          <span key={kind}>
            <svg viewBox="0 0 22 8" className="wf" aria-hidden="true">
              <rect className={looks[kind].bar} x=".5" y=".5" width="21" height="7" rx="2" />
            </svg>
            {looks[kind].word}
          </span>
        ))}
    </span>
  )
}
