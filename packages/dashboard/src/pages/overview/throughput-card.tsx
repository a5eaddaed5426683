/** What was finished in the last hour, by outcome: successes on one scale, everything else on its own. */
import type { ReactNode } from 'react'
import type { SeriesPoint } from '../../api/contract.ts'
import { useSeries } from '../../api/use-series.ts'
import { ChartCard } from '../../parts/chart/chart-card.tsx'
import type { Panel } from '../../parts/chart/chart.tsx'
import { rate } from '../../words/numbers.ts'

export function ThroughputCard({ queue, task }: { readonly queue?: string; readonly task?: string }): ReactNode {
  const of = { ...(queue === undefined ? {} : { queue }), ...(task === undefined ? {} : { task }) }
  const points = useSeries('rate', { lastMs: 3_600_000, points: 60, ...of })
  return (
    <ChartCard
      title="Throughput by outcome"
      sub={<span className="only-l">last hour, by minute; the last point is unfinished</span>}
      times={points.map(({ at }) => Date.parse(at))}
      panels={panelsOf(points)}
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
