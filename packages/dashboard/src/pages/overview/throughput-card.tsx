/** Ended runs by outcome: successes on one scale, everything else on its own. */
import type { ReactNode } from 'react'
import type { SeriesPoint } from '../../api/contract.ts'
import { useSeries } from '../../api/use-series.ts'
import { Card, Empty } from '../../parts/card.tsx'
import { ChartCard } from '../../parts/chart/chart-card.tsx'
import type { Panel } from '../../parts/chart/chart.tsx'
import { lastHour, type TimeRange } from '../../parts/chart/time-range.tsx'
import { rate } from '../../words/numbers.ts'

interface Props {
  readonly queue?: string
  readonly task?: string
  readonly range?: TimeRange
}

export function ThroughputCard({ queue, task, range = lastHour }: Props): ReactNode {
  const { lastMs, points: buckets, words } = range
  const of = { ...(queue === undefined ? {} : { queue }), ...(task === undefined ? {} : { task }) }
  const points = useSeries('rate', { lastMs, points: buckets, ...of })
  const panels = panelsOf(points)
  const values = panels.flatMap(({ series }) => series.flatMap((one) => one.values))
  if (values.includes(0) && values.every((value) => value === 0 || value === null))
    return (
      <Card title="Throughput by outcome" sub={words}>
        <Empty title="No run is counted yet in this time">
          <p>
            Successes, failures, retries and cancels per second are drawn here. Nodes usually report them every 10 s.
          </p>
        </Empty>
      </Card>
    )
  return (
    <ChartCard
      title="Throughput by outcome"
      sub={<span className="only-l">{words}; the last point is unfinished</span>}
      times={points.map(({ at }) => Date.parse(at))}
      panels={panels}
      isLastPartial={points.at(-1)?.partial ?? false}
      nothing="Nodes record what they finish once a minute."
    />
  )
}

function panelsOf(points: readonly SeriesPoint[]): Panel[] {
  const values = (key: 'succeeded' | 'failed' | 'retried' | 'cancelled' | 'crashed') =>
    points.map((point) => point[key] ?? null)
  const format = (value: number) => (value === 0 ? '0' : rate(value))
  const axis = (value: number) => String(Number(value.toPrecision(2)))
  return [
    {
      label: 'succeeded, runs/s',
      height: 120,
      format,
      axis,
      series: [{ name: 'succeeded', look: 's-ok', values: values('succeeded'), area: 'succeeded' }],
    },
    {
      label: 'everything else, runs/s (own scale)',
      height: 80,
      format,
      axis,
      series: [
        { name: 'failed', look: 's-fail', values: values('failed') },
        { name: 'retried', look: 's-retry', values: values('retried') },
        { name: 'cancelled', look: 's-cancel', values: values('cancelled') },
        { name: 'crashed', look: 's-crash', values: values('crashed') },
      ],
    },
  ]
}
