/**
 * How long runs wait. Percentiles come from runs that were started, so they go quiet exactly when a queue stalls: the age of the
 * oldest waiting run is drawn on the same axis.
 */
import type { ReactNode } from 'react'
import { useSeries } from '../../api/use-series.ts'
import { ChartCard } from '../../parts/chart/chart-card.tsx'
import type { TimeRange } from '../../parts/chart/time-range.tsx'
import { duration } from '../../words/durations.ts'
import { countLabel } from '../../words/numbers.ts'

interface Props {
  readonly queue: string
  readonly range: TimeRange
}

export function WaitCard({ queue, range }: Props): ReactNode {
  const window = { lastMs: range.lastMs, points: range.points }
  const waits = useSeries('wait', { ...window, queue })
  const oldest = useSeries('oldest', { ...window, queue })
  const times = (waits.length > 0 ? waits : oldest).map(({ at }) => Date.parse(at))
  const oldestAt = new Map(oldest.map(({ at, value }) => [Date.parse(at), value ?? null]))
  const series = [
    {
      name: 'p50',
      look: 's-p50',
      values: waits.length > 0 ? waits.map(({ p50 }) => p50 ?? null) : times.map(() => null),
    },
    {
      name: 'p95',
      look: 's-p95',
      values: waits.length > 0 ? waits.map(({ p95 }) => p95 ?? null) : times.map(() => null),
    },
    {
      name: 'oldest waiting',
      look: 's-oldest',
      values: times.map((at) => nearest(oldestAt, at, range.lastMs / range.points)),
    },
  ]
  return (
    <ChartCard
      title="Wait"
      sub={<span className="only-l">{range.words}; log scale; the oldest waiting run on the same axis</span>}
      times={times}
      panels={[{ label: 'from ready to started', height: 150, isDuration: true, format: duration, series }]}
      isLastPartial={waits.at(-1)?.partial ?? false}
      nothing="Nodes record how long runs waited once a minute."
    />
  )
}

/** Both series are cut into the same buckets; a look that fell between two is taken by the nearer one. */
function nearest(values: ReadonlyMap<number, number | null>, at: number, withinMs: number): number | null {
  const exact = values.get(at)
  if (exact !== undefined) return exact
  const [near] = [...values.keys()].toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))
  return near === undefined || Math.abs(near - at) > withinMs ? null : (values.get(near) ?? null)
}

export function BacklogCard({ queue, range }: Props): ReactNode {
  const ready = useSeries('ready', { lastMs: range.lastMs, points: range.points, queue })
  return (
    <ChartCard
      title="Backlog"
      sub={<span className="only-l">ready runs, {range.words}</span>}
      times={ready.map(({ at }) => Date.parse(at))}
      panels={[
        {
          label: 'ready runs',
          whole: true,
          height: 90,
          format: countLabel,
          series: [{ name: 'ready', look: 's-ready', values: ready.map(({ value }) => value ?? null), area: 'ready' }],
        },
      ]}
      isLastPartial={false}
      nothing="The backlog is sampled every 15 seconds while a node is alive."
    />
  )
}
